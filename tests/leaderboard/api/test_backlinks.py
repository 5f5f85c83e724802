"""What other sites may use: the list of models."""

import httpx


def test_every_model_has_a_page(app):
    with httpx.Client(base_url=app.url, headers={"accept": "text/html"}, timeout=60) as site:
        answer = site.get("models.json")
        siglip = next(row for row in answer.json()["models"] if row["key"] == "google/siglip-so400m-patch14-384")
        assert site.get(siglip["page"]).status_code == 200
        assert site.get("models.json", headers={"if-none-match": answer.headers["etag"]}).status_code == 304
