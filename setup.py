"""What pyproject.toml cannot state: `assets` and `docs` go into the package, part of requirements.txt is an extra."""

from pathlib import Path

from setuptools import find_packages, setup

HEADING = "# To run models: of the installed package, the extra `compute`\n"
app, models = Path("requirements.txt").read_text(encoding="utf-8").split(HEADING)

setup(
    packages=[
        *find_packages(include=["compute", "compute.*", "leaderboard", "leaderboard.*"]),
        "compute.assets",
        "compute.docs",
    ],
    package_dir={"compute.assets": "assets", "compute.docs": "docs"},
    package_data={"compute": ["**/*"], "leaderboard": ["**/*"], "compute.assets": ["**/*"], "compute.docs": ["*.md"]},
    exclude_package_data={"": ["*.duckdb*", "**/__pycache__/*"]},
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
