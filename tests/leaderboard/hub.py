"""Sends this process to a stand-in of the hub."""


def point_at(hub, monkeypatch):
    """Makes the hub's library in this process ask the stand-in, as HF_ENDPOINT does for one that starts."""
    from huggingface_hub import constants

    address = f"{hub.address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "ENDPOINT", hub.address)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_URL_HOSTS", frozenset({"127.0.0.1"}))
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", address)
    monkeypatch.setattr("huggingface_hub.file_download.HUGGINGFACE_CO_URL_TEMPLATE", address, raising=False)
