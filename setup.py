"""What pyproject.toml cannot state: the package `likeness` is made of folders that lie side by side in a checkout.

`compute` becomes `likeness.compute`, so that no name of ours can be that of somebody else's package, and the files that
are copied import it by that name. An editable installation is the checkout itself, with its own names.
"""

import ast
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

PARTS = ("compute", "leaderboard")
HEADING = "# To run models: of the installed package, the extra `compute`\n"
app, models = Path("requirements.txt").read_text(encoding="utf-8").split(HEADING)
packages = find_packages(include=["likeness", *PARTS, *(f"{part}.*" for part in PARTS)])
folders = {}
if "editable_wheel" not in sys.argv:
    packages = [name if name == "likeness" else f"likeness.{name}" for name in packages]
    packages += ["likeness.assets", "likeness.docs"]
    folders = {f"likeness.{name}": name for name in (*PARTS, "assets", "docs")}


class BuildAsOne(build_py):
    def copy_file(self, infile, outfile, *rest, **how):
        made = super().copy_file(infile, outfile, *rest, **how)
        if Path(infile).parts[0] != "assets" and Path(infile).suffix == ".py":
            Path(outfile).write_text(as_installed(Path(infile).read_text(encoding="utf-8")), encoding="utf-8")
        return made


def as_installed(text: str) -> str:
    """A module's text as the package has it: with `likeness.compute` imported."""
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            name, begin = node.module, len("from ")
        elif isinstance(node, ast.Import):
            name, begin = node.names[0].name, len("import ")
            assert name.partition(".")[0] not in PARTS or node.names[0].asname, f"{name} is imported without `as`"
        else:
            continue
        if name.partition(".")[0] in PARTS:
            line, at = lines[node.lineno - 1], node.col_offset + begin
            lines[node.lineno - 1] = f"{line[:at]}likeness.{line[at:]}"
    return "".join(lines)


setup(
    long_description=Path("README.md").read_text(encoding="utf-8").split("---\n", 2)[2],  # after a Space's settings
    long_description_content_type="text/markdown",
    packages=packages,
    package_dir=folders,
    package_data={"": ["**/*"]},
    exclude_package_data={"": ["*.duckdb*", "**/__pycache__/*", "tiny/recipe/*", "eyes/recipe/*"]},
    cmdclass={"build_py": BuildAsOne},
    install_requires=app,
    extras_require={
        "compute": models,
        "training": [
            "peft>=0.18",  # LoRA on the vision tower that is tuned
        ],
        "s3": [
            "s3fs>=2025.3",  # results and encodings at s3://bucket/folder
        ],
        "perceptual": [
            "dreamsim>=0.2.1",  # DreamSim's architectures and checkpoints' layout
            "lpips>=0.1.4",  # LPIPS's architectures and linear weights
            "peft>=0.18",  # LoRA checkpoints: DreamSim's ensemble, VLM2Vec's
        ],
        "ray": ["ray[data]>=2.50"],  # runs the work on a cluster: --engine ray
    },
)
