"""The table of names is well formed; what its rows say is tested where tables of scores are read."""

from compute.io import column_names
from compute.io.tables import read_csv
from compute.paths import CATALOG


def test_every_name_has_a_role_a_place_and_a_source_once():
    table = read_csv(CATALOG / "column_names.csv")
    roles = {value for name, value in vars(column_names).items() if name.isupper() and isinstance(value, str)}
    assert set(table["role"]) == roles and set(table["match"]) == {"", *column_names.PLACES} and table["source"].all()
    words = [(row.role, column_names.words_of(row.name)) for row in table.itertuples(index=False)]
    assert len(set(words)) == len(words) and all(phrase for _, phrase in words)
    both = {role: {phrase for of, phrase in words if of == role} for role in ("lower", "higher")}
    assert not both["lower"] & both["higher"]
