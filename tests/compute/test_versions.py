"""What a base installation says, and which versions are recorded beside a run."""

from importlib import metadata

from compute import versions
from tests.compute.tasks.files import put
from tests.serving import ended

# A base installation: the packages of the extra `compute` are neither found nor listed.
BASE = """
import sys
from importlib import metadata
EXTRA = ("torch", "torchvision", "transformers", "timm", "open_clip", "open_clip_torch", "safetensors", "sklearn",
         "scikit_learn", "scikit-learn", "pyarrow", "umap", "umap_learn", "threadpoolctl", "peft", "tokenizers")
class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *rest):
        return None if name.partition(".")[0] in EXTRA else self.finder.find_spec(name, *rest)
    def __getattr__(self, name):
        return getattr(self.finder, name)
sys.meta_path[:] = map(Without, sys.meta_path)
of = metadata.version
def version(name):
    if name in EXTRA:
        raise metadata.PackageNotFoundError(name)
    return of(name)
metadata.version = version
"""


CALLS = """
import compute
from compute.__main__ import main
from compute.types import NotHere
for call in (
    "compute.evaluate('tiny', data='classes')",
    "compute.evaluate('tiny', suite='mini')",
    "compute.frechet(reference='classes/a', generated={'b': 'classes/b'}, backbones='tiny')",
    "compute.train(base='tiny', out='tuned')",
    "compute.metric('ssim')",
):
    try:
        eval(call)
    except NotHere as error:
        print(call, error)
    else:
        sys.exit(f"{call} needs nothing")
main()
"""


def test_a_base_installation_names_the_extra_before_anything_is_run(tmp_path):
    put(tmp_path, {f"classes/{name}/{at}.png": ord(name) + 3 * at for name in "ab" for at in range(3)})
    words = ("run", "--suite", "mini", "--models", "tiny")
    done = ended("-c", BASE + CALLS, *words, cwd=tmp_path, LIKENESS_HOME=str(tmp_path / "home"))
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1 and last.startswith("Error: ") and versions.install_command() in last, done.stderr
    assert done.stdout.count(versions.install_command()) == 5 and "| task" not in done.stdout
    assert not list(tmp_path.glob("home/results/tiny/*"))


def test_every_package_that_settings_name_is_recorded():
    settings = {"model": {"packages": {"numpy": "1.2"}, "decoding": {"packages": {"pillow": "9.9"}}}, "packages": {}}
    assert versions.exact(settings) == {name: metadata.version(name) for name in ("numpy", "pillow")}
