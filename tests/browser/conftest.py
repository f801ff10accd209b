import shutil

import pytest

from graphglass import GraphGlass, ReferenceDetector, read_graphs
from graphglass.serve.app import create_app
from graphglass.serve.middleware import LOOPBACK_NAMES
from graphglass.serve.service import Service

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
NORMALS = """CCO CC(=O)O c1ccccc1 c1ccccc1O CC(C)O CCN CCCC CC(=O)OC c1ccccc1C c1ccccc1N CC(=O)Nc1ccc(O)cc1 c1ccncc1
C1CCCCC1 C1CCCCC1O CCOC(=O)C CCC(=O)O OCCO NCC(=O)O c1ccc2ccccc2c1 CCCCCC c1ccccc1C(=O)O COc1ccccc1 CCNCC C1CCOCC1"""


@pytest.fixture(scope="session")
def molecules(tmp_path_factory):
    """A saved model of small molecules."""
    path = tmp_path_factory.mktemp("molecules") / "model"
    GraphGlass().fit(read_graphs(NORMALS.split(), format="smi")).save(path)
    return path


def application(path, token=None):
    return create_app(Service(path), token=token, hosts=LOOPBACK_NAMES)


@pytest.fixture
def inspector(molecules, tmp_path, serving):
    """The page's address, on a copy of the model that a test may change."""
    shutil.copytree(molecules, tmp_path / "model")
    with serving(application(tmp_path / "model")) as address:
        yield f"{address}/"


@pytest.fixture
def any_domain(molecules, tmp_path, serving):
    """A page that ranks by structure alone, so that graphs of every format fit."""
    ReferenceDetector.load(molecules).for_any_domain().save(tmp_path / "model")
    with serving(application(tmp_path / "model")) as address:
        yield f"{address}/"


@pytest.fixture
def guarded(molecules, serving):
    """A page whose service asks for a token."""
    with serving(application(molecules, token="a-token-of-this-test")) as address:
        yield f"{address}/"


@pytest.fixture(scope="module")
def chromium():
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Open a page; at the end, no error was on its console and nothing left the server it came from."""
    contexts, troubles = [], []

    def start(address, *, expected="", **options):
        context = chromium.new_context(**{"viewport": {"width": 1200, "height": 850}, **options})
        contexts.append(context)
        context.set_default_timeout(60_000)
        page = context.new_page()

        def heard(message):
            if message.type in ("error", "warning") and not (expected and expected in message.text):
                troubles.append(message.text)

        def asked(request):
            if not request.url.startswith((address, "data:")):
                troubles.append(request.url)

        page.on("console", heard)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", asked)
        page.goto(address)
        return page

    yield start
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def serious_findings():
    """A function that checks a page with axe and lists what is serious or worse."""
    from axe_playwright_python.sync_playwright import Axe

    def check(page):
        found = Axe().run(page).response["violations"]
        return [
            (item["id"], item["help"], node["target"])
            for item in found
            if item["impact"] in ("serious", "critical")
            for node in item["nodes"][:3]
        ]

    return check
