"""Results as a pull request to a model's repository on the hub."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from compute.types import BadInput, LikenessError, NotHere, first_line

CARD = "README.md"
MESSAGE = "Add evaluation results computed with Likeness"


def current_card(repo: str) -> tuple[str, str]:
    """The repository's README.md as it is, empty where it has none, and the commit that it is of.

    Raises NotHere where the hub cannot be reached, BadInput where it shows no such repository.
    """
    import httpx2
    from huggingface_hub import HfApi
    from huggingface_hub.errors import EntryNotFoundError, HFValidationError, RepositoryNotFoundError

    hub = HfApi()
    try:
        commit = str(hub.model_info(repo).sha)
        path = Path(hub.hf_hub_download(repo, CARD, revision=commit))
    except EntryNotFoundError:
        return "", commit
    except (HFValidationError, RepositoryNotFoundError) as error:
        raise BadInput(
            f"The hub shows no model {repo!r}: check the name; a private one needs a token in HF_TOKEN"
        ) from error
    except (httpx2.HTTPError, OSError) as error:
        raise NotHere(
            f"The card of {repo!r} cannot be read: {_reason(error)}. Check the connection, or write the files to a "
            "folder with --to"
        ) from error
    return as_card(path.read_bytes(), name=f"The card of {repo!r}"), commit


def as_card(content: bytes, *, name: str) -> str:
    """A card's text. Raises BadInput where it is not UTF-8, which to replace would destroy."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8 text: convert it first") from error


def require_token() -> None:
    """Raises NotHere where the hub's library has no token; it is never shown."""
    from huggingface_hub import get_token

    if not get_token():
        raise NotHere(
            "A pull request needs a token that may write: put it into HF_TOKEN, or store it with: hf auth login. "
            "Without one, write the files to a folder with --to and upload them by hand"
        )


def propose(files: Mapping[str, str], *, repo: str, parent: str, description: str) -> str:
    """Opens a pull request with the files in one commit on top of `parent`; its address.

    The token is the hub library's own. Raises LikenessError with what the hub says.
    """
    import httpx2
    from huggingface_hub import CommitOperationAdd, HfApi

    operations = [
        CommitOperationAdd(path_in_repo=path, path_or_fileobj=text.encode()) for path, text in sorted(files.items())
    ]
    try:
        made = HfApi().create_commit(
            repo_id=repo,
            repo_type="model",
            operations=operations,
            commit_message=MESSAGE,
            commit_description=description,
            create_pr=True,
            parent_commit=parent,
        )
    except (httpx2.HTTPError, OSError) as error:
        raise LikenessError(
            f"The pull request to {repo!r} could not be opened: {_reason(error)}. Check that the token may write and "
            "that the repository takes pull requests, or write the files with --to and upload them by hand"
        ) from error
    return str(made.pr_url)


def _reason(error: Exception) -> str:
    return first_line(error).rstrip(".")
