"""Which part of a version identifies a run, and which versions are recorded beside it."""

from __future__ import annotations

from importlib import metadata

from compute import versions


def test_a_patch_release_is_the_same_version_and_a_minor_one_is_not() -> None:
    given = {"a": "2.14.1", "b": "2.14.0+cu128", "c": "0.4.0.post1", "d": "3", "e": "2.15.0rc1", "f": versions.MISSING}
    assert versions.minor(given) == {"a": "2.14", "b": "2.14", "c": "0.4", "d": "3", "e": "2.15", "f": "missing"}


def test_installed_versions_are_the_exact_ones() -> None:
    assert versions.installed(["numpy", "no-such-package"]) == {
        "numpy": metadata.version("numpy"),
        "no-such-package": versions.MISSING,
    }


def test_every_package_that_settings_name_is_recorded() -> None:
    settings = {"model": {"packages": {"numpy": "1.2"}, "decoding": {"packages": {"pillow": "9.9"}}}, "packages": {}}
    assert versions.exact(settings) == {name: metadata.version(name) for name in ("numpy", "pillow")}
