"""A studio that runs as a process of its own, and whoever speaks to it over sockets."""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-c", "from anon_sql.apps.main import main; main()"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


class Running:
    """A process of ``anon-sql studio``. address: the line that it prints."""

    def __init__(self, process, address, folder):
        self.process, self.address, self.folder = process, address, folder
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{43})", address)
        assert found, address
        self.port, self.token = int(found[1]), found[2]
        self.cookie = self.key = None

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    def ask(self, path, body=None, *, method=None, timeout=120, **headers):
        """Status, headers and text of an answer; None leaves a header out."""
        known = {
            "Host": self.host,
            "Cookie": self.cookie,
            "X-Studio-Key": self.key,
            "Origin": None if body is None else f"http://{self.host}",
        }
        sent = {**known, **{name.replace("_", "-"): value for name, value in headers.items()}}
        con = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        con.putrequest(method or ("GET" if body is None else "POST"), path, skip_host=True)
        text = None if body is None else json.dumps(body).encode()
        if text is not None:
            con.putheader("Content-Length", str(len(text)))
        for name, value in sent.items():
            if value is not None:
                con.putheader(name, value)
        con.endheaders(text)
        answer = con.getresponse()
        found = answer.status, answer.headers, answer.read().decode()
        con.close()
        return found

    def enter(self):
        """Use the token, and read the key of the page."""
        status, headers, _ = self.ask(f"/?token={self.token}")
        assert status == 200
        self.cookie = headers["Set-Cookie"].split(";")[0]
        self.key = re.search(r'name="studio-key" content="([\w-]+)"', self.page("/table"))[1]
        return self

    def page(self, path, body=None, **headers):
        """The text of an answer that must be given."""
        status, _, text = self.ask(path, body, **headers)
        assert status == 200, (path, status, text)
        return text

    def choose(self, name, value, columns=()):
        """The name of the choice that holds after another choice."""
        said = {"name": name, "value": value, "columns": list(columns)}
        return json.loads(self.page("/choice", said))["choice"]

    def end(self):
        self.process.terminate()
        self.process.wait(20)


@contextmanager
def running(folder, *arguments, code=COMMAND[-1], **environment):
    """A studio in a folder; code: what starts it; environment: variables of its own."""
    process = subprocess.Popen(
        [*COMMAND[:-1], code, "studio", *map(str, arguments), "--no-open"],
        cwd=folder,
        env={**ENVIRONMENT, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = process.stdout.readline().rstrip("\n")
        assert address, process.stderr.read()
        yield Running(process, address, folder)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
        process.stdout.close()
        process.stderr.close()


def listening_addresses(pid):
    """The addresses on which a process listens, as Linux lists them."""
    inodes = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed in the meantime
            found = re.match(r"socket:\[(\d+)\]", os.readlink(each))
            if found:
                inodes.add(found[1])
    addresses = []
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            parts = line.split()
            if parts[3] == "0A" and parts[9] in inodes:
                host, port = parts[1].split(":")
                if name == "tcp":
                    host = socket.inet_ntoa(bytes.fromhex(host)[::-1])
                addresses.append((host, int(port, 16)))
    return addresses


class _Reading(HTMLParser):
    def __init__(self):
        super().__init__()
        self.figures, self.texts, self._pre = [], [], None

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "data" and "data-sql" in found:
            self.figures.append((found["value"], found["data-sql"]))
        if tag == "pre":
            self._pre = ""

    def handle_data(self, text):
        if self._pre is not None:
            self._pre += text

    def handle_endtag(self, tag):
        if tag == "pre":
            self.texts.append(self._pre)
            self._pre = None


def figures(page):
    """The figures of a page: the value to its last digit, and the statement it comes from."""
    reading = _Reading()
    reading.feed(page)
    return reading.figures


def shown_code(page):
    """The texts of a page that are statements, commands or programs."""
    reading = _Reading()
    reading.feed(page)
    return reading.texts


def released_by(page):
    """The statement that makes the release whose figures a page shows."""
    return next(text for text in shown_code(page) if text.startswith("CREATE TABLE released AS "))


def check_figures(con, page, least, every=1):
    """Run the statement of each figure, or of one in so many, and compare, to the last digit."""
    found = figures(page)
    assert len(found) >= least, len(found)
    for value, sql in list(dict.fromkeys(found))[::every]:
        ((expected,),) = con.execute(sql).fetchall()
        if expected is None:
            assert value == "", sql
        else:
            assert float(value) == float(expected), sql
