"""The pages at `/api/ui/` that try operations: files of the package swagger-ui-bundle, and a page of Mason's own.

The page of the package would ask another site for an example.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.responses import Response as HttpResponse

from mason.api.server.specification.fragments import BASE_PATH

UI = f"{BASE_PATH}/ui"
_FILES = (
    "swagger-ui.css",
    "swagger-ui-bundle.js",
    "swagger-ui-standalone-preset.js",
    "favicon-16x16.png",
    "favicon-32x32.png",
)
_PAGE = f"""\
<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="UTF-8">
    <title>Swagger UI</title>
    <link rel="stylesheet" type="text/css" href="./swagger-ui.css">
    <link rel="icon" type="image/png" href="./favicon-32x32.png" sizes="32x32">
    <link rel="icon" type="image/png" href="./favicon-16x16.png" sizes="16x16">
    <style>body {{ margin: 0; background: #fafafa; }}</style>
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="./swagger-ui-bundle.js" charset="UTF-8"></script>
    <script src="./swagger-ui-standalone-preset.js" charset="UTF-8"></script>
    <script>
      window.onload = function () {{
        window.ui = SwaggerUIBundle({{
          url: "{BASE_PATH}/openapi.json",
          validatorUrl: null,
          displayOperationId: false,
          persistAuthorization: false,
          dom_id: "#swagger-ui",
          deepLinking: true,
          presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
          plugins: [SwaggerUIBundle.plugins.DownloadUrl],
          layout: "StandaloneLayout",
        }});
      }};
    </script>
  </body>
</html>
"""


def answer_page(path: str) -> HttpResponse | None:
    """Return the page or the file at a path below `/api/ui`, if there is one."""
    if path == UI:
        return RedirectResponse(f"{UI}/")
    name = path.removeprefix(f"{UI}/")
    if name in ("", "index.html"):
        return HTMLResponse(_PAGE)
    return FileResponse(_folder() / name) if name in _FILES else None


@cache
def _folder() -> Path:
    from swagger_ui_bundle import swagger_ui_path  # only when somebody looks at the pages

    return Path(swagger_ui_path)
