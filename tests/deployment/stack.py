"""The compose stack as people run it, under a real Docker daemon and a real MCP client: stack.py DEPLOYMENT OVERRIDES

DEPLOYMENT is a copy of the repository's folder without secrets, OVERRIDES the folder that names the local images. Each function that
begins with `test_` is one claim; they follow one another, since a stack takes a while to start. The first that fails ends the run.
"""

import asyncio
import http.client
import inspect
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

DEPLOYMENT, OVERRIDES = Path(sys.argv[1]), Path(sys.argv[2])
ONLY = sys.argv[3:]
PROJECT = "remembrancer-test"
PATIENCE = 120
LOCAL = ["-f", str(OVERRIDES / "images.yml")]


def free_port(wanted):
    with socket.socket() as one:
        try:
            one.bind(("127.0.0.1", wanted))
        except OSError:
            one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


# The one that people use, unless somebody has it.
PORT = free_port(3100)
ENVIRONMENT = {
    **os.environ,
    "COMPOSE_PROJECT_NAME": PROJECT,
    "REMEMBRANCER_IMAGE": "remembrancer-test/remembrancer:current",
    "REMEMBRANCER_PORT": str(PORT),
    # Two cores build, test and serve.
    "POSTGRES_SHARED_BUFFERS": "64MB",
    # Jobs of a worker that was killed are not waited for longer.
    "REMEMBRANCER_WORKER_LEASE_SECONDS": "5",
}
FIGURES = {}


def run(*command, check=True, **environment):
    ran = subprocess.run(command, cwd=DEPLOYMENT, env={**ENVIRONMENT, **environment}, capture_output=True, text=True, timeout=400)
    if check and ran.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: {ran.returncode}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}")
    return ran.stdout.strip() if check else ran


def docker(*arguments, **more):
    return run("docker", *arguments, **more)


def compose(*arguments, files=(), **more):
    return run("docker-compose", "-f", "docker-compose.yml", *LOCAL, *files, *arguments, **more)


def up(*arguments, **environment):
    return run("./up", *LOCAL, *arguments, **environment)


def containers(service, every=False):
    """Ids of a service's containers, in the order of their numbers."""
    label = f"label=com.docker.compose.service={service}"
    ids = docker("ps", "-q", *(["-a"] if every else []), "--no-trunc", "-f", label, "-f", f"label=com.docker.compose.project={PROJECT}")
    found = [inspected(one) for one in ids.split()]
    return [one["Id"] for one in sorted(found, key=lambda one: one["Name"])]


def inspected(container):
    return json.loads(docker("inspect", container))[0]


def health(container):
    state = inspected(container)["State"]
    return state.get("Health", {}).get("Status", state["Status"])


def secret(name):
    return (DEPLOYMENT / "secrets" / name).read_text()


def until(what, holds, patience=PATIENCE):
    deadline = time.monotonic() + patience
    while True:
        try:
            if holds():
                return
            reason = ""
        except (AssertionError, OSError) as error:
            reason = error
        assert time.monotonic() < deadline, f"it did not come true in {patience} s: {what} {reason}"
        time.sleep(0.3)


def until_healthy(service, number=None):
    def holds():
        found = containers(service)
        return bool(found) and (number is None or len(found) == number) and all(health(one) in ("healthy", "running") for one in found)

    until(f"{service} is healthy", holds)


@asynccontextmanager
async def client(port=None, namespace="default"):
    headers = {"Authorization": f"Bearer {secret('token')}"}
    async with httpx2.AsyncClient(headers=headers, timeout=90) as http:
        transport = streamable_http_client(f"http://localhost:{port or PORT}/mcp?namespace={namespace}", http_client=http)
        async with Client(transport) as session:
            yield session


async def ask(session, tool, **arguments):
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, f"{tool}: {result.content}"
    return result.structured_content


def call(tool, port=None, **arguments):
    """One call by a client of its own."""

    async def once():
        async with asyncio.timeout(100), client(port) as session:
            return await ask(session, tool, **arguments)

    try:
        return asyncio.run(once())
    except BaseExceptionGroup as group:
        raise AssertionError(f"{tool}: {flat(group)}") from None
    except Exception as error:
        raise AssertionError(f"{tool}: {error!r}") from None


def flat(group):
    return [flat(one) if isinstance(one, BaseExceptionGroup) else repr(one) for one in group.exceptions]


def get(path, port=None):
    """The status of an HTTP request; 0 when nobody answers."""
    try:
        with urllib.request.urlopen(f"http://localhost:{port or PORT}{path}", timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def settled():
    def holds():
        status = call("status")
        assert not status.get("failed_jobs"), status
        return status["pending_jobs"] == 0

    until("no job is pending", holds)


class Load(threading.Thread):
    """A client that remembers notes, one after the other, and knows which of them were acknowledged."""

    def __init__(self, name, port=None):
        super().__init__(daemon=True)
        self.label, self.port = name, port
        self.ended = threading.Event()
        self.kept = {}
        self.refused = []

    def run(self):
        number = 0
        while not self.ended.is_set():
            number += 1
            text = f"Note {number} of {self.label}: Alice Chen committed to deliver part {number} by Friday."
            try:
                self.kept[text] = call("remember", self.port, content=text)["id"]
            except AssertionError as error:
                # Not acknowledged: nothing is promised.
                self.refused.append(str(error))
                time.sleep(0.2)

    def __enter__(self):
        self.start()
        until("something is remembered", lambda: len(self.kept) >= 3)
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join(timeout=120)
        assert not self.is_alive(), "a call hangs"


class HalvesLoad:
    """Callers whose requests come in two parts, first the head and then the body, as many clients send them."""

    def __init__(self, callers):
        self.ended = threading.Event()
        self.answered, self.refused = [], []
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(callers)]

    def run(self):
        while not self.ended.is_set():
            line = http.client.HTTPConnection("localhost", PORT, timeout=60)
            try:
                for _ in range(5):
                    line.putrequest("POST", "/api/v1/status")
                    for name, value in (("Authorization", f"Bearer {secret('token')}"), ("Content-Type", "application/json"),
                                        ("Content-Length", "2")):
                        line.putheader(name, value)
                    line.endheaders()
                    time.sleep(0.005)
                    line.send(b"{}")
                    answer = line.getresponse()
                    body = answer.read()
                    if answer.status == 200:
                        self.answered.append(answer.status)
                    else:
                        self.refused.append(f"{answer.status} {body[:200]}")
            except OSError as error:
                self.refused.append(repr(error))
            finally:
                line.close()

    def __enter__(self):
        for one in self.threads:
            one.start()
        until("they are answered", lambda: len(self.answered) >= 10)
        return self

    def __exit__(self, *_):
        self.ended.set()
        for one in self.threads:
            one.join(timeout=120)
        assert not any(one.is_alive() for one in self.threads), "a call hangs"


async def lost_of(kept, port=None):
    async with client(port) as session:
        at_once = asyncio.Semaphore(8)

        async def is_lost(text, key):
            async with at_once:
                found = await session.call_tool("recall", {"id": key})
            return found.is_error or text not in json.dumps(found.structured_content, ensure_ascii=False)

        lost = await asyncio.gather(*(is_lost(text, key) for text, key in kept.items()))
    return [text for text, gone in zip(kept, lost, strict=True) if gone]


def nothing_lost(load):
    settled()
    lost = asyncio.run(lost_of(load.kept, load.port))
    assert not lost, f"{len(lost)} of {len(load.kept)} acknowledged notes are gone: {lost[:3]}"
    everything.update(load.kept)


# All that was ever acknowledged and not forgotten.
everything = {}


def test_the_first_up_makes_secrets_and_serves_at_localhost():
    began = time.monotonic()
    said = up()
    FIGURES["cold up"] = f"{time.monotonic() - began:.1f} s"
    text = "Alice Chen committed to deliver the API design by Friday."
    everything[text] = call("remember", content=text)["id"]
    found = call("recall", query="What did Alice promise?")
    assert text in json.dumps(found), found
    FIGURES["cold up to first recall"] = f"{time.monotonic() - began:.1f} s"
    assert f"http://localhost:{PORT}/mcp" in said and secret("token") not in said, said
    folder = DEPLOYMENT / "secrets"
    assert folder.stat().st_mode & 0o777 == 0o700
    names = {"owner_password", "database_password", "token", "qdrant_api_key", "qdrant.yaml", "grafana_password"}
    assert {one.name for one in folder.iterdir()} == names
    values = [secret(name) for name in names - {"qdrant.yaml"}]
    assert len(set(values)) == len(values) and all(len(value) == 64 for value in values), "each is random"


def test_a_real_client_remembers_recalls_and_forgets():
    async def story():
        async with client() as session:
            text = "Bob Martinez is waiting on schema review from Alice Chen, which may delay the migration."
            kept = await ask(session, "remember", content=text)
            for _ in range(300):
                found = await ask(session, "recall", query="What is Bob waiting for?", limit=1)
                if found["results"] and found["results"][0].get("events"):
                    break
                await asyncio.sleep(0.3)
            assert found["results"][0]["events"][0]["evidence"][0]["quote"] in text, found
            assert (await ask(session, "forget", id=kept["id"], confirm=True))["deleted"]
            gone = await ask(session, "recall", query="What is Bob waiting for?")
            assert kept["id"] not in json.dumps(gone), gone
            status = await ask(session, "status")
            assert status["services"]["vector_mirror"]["status"] == "up", status["services"]

    asyncio.run(story())
    assert get("/mcp") == 401, "without the token nobody gets in"
    [server] = containers("server")
    shown = docker("exec", server, "remembrancer", "status")
    assert "healthy" in shown.splitlines()[0], f"operators ask in the container: {shown}"


def state():
    services = ["postgres", "qdrant", "server", "event-worker"]
    running = {name: [(one, inspected(one)["State"]["StartedAt"]) for one in containers(name)] for name in services}
    secrets = {one.name: (one.read_text(), one.stat().st_mtime_ns) for one in (DEPLOYMENT / "secrets").iterdir()}
    return running, secrets


def test_a_second_up_changes_nothing():
    before = state()
    up()
    assert state() == before


def test_nothing_is_root_writes_its_image_shows_a_secret_or_a_database():
    published = {}
    values = [secret(one.name).strip() for one in (DEPLOYMENT / "secrets").iterdir()]
    for service in ["postgres", "qdrant", "migrate", "server", "event-worker"]:
        [one] = containers(service, every=True)
        told = docker("inspect", one)
        assert not [value for value in values if value in told], f"{service} shows a secret"
        logged = run("docker", "logs", one, check=False)
        assert not [value for value in values if value in logged.stdout + logged.stderr], f"{service} logs a secret"
        found = json.loads(told)[0]
        config, host = found["Config"], found["HostConfig"]
        assert config["User"].split(":")[0] not in ("", "0", "root"), f"{service} runs as {config['User']!r}"
        assert host["ReadonlyRootfs"] and host["CapDrop"] == ["ALL"] and not host["CapAdd"], service
        assert host["SecurityOpt"] == ["no-new-privileges:true"] and not host["Privileged"], service
        assert host["Memory"] > 0 and host["PidsLimit"] > 0 and host["Init"], f"{service} has no limits"
        assert host["LogConfig"]["Config"].get("max-size"), f"{service} logs without an end"
        ports = {port: [where["HostIp"] for where in bound] for port, bound in (host["PortBindings"] or {}).items()}
        published.update({f"{service} {port}": where for port, where in ports.items()})
        wrote = run("docker", "exec", one, "sh", "-c", "touch /usr/local/bin/x || touch /x", check=False)
        assert wrote.returncode != 0, f"{service} writes into its image"
    assert published == {"server 3100/tcp": ["127.0.0.1"]}, published
    [server], [worker] = containers("server"), containers("event-worker")
    for one in (server, worker):
        uid = docker("exec", one, "sh", "-c", "grep -h '^Uid' /proc/1/status /proc/7/status 2>/dev/null || id -u")
        assert "\t0\t" not in uid and uid != "0", uid
        networks = inspected(one)["NetworkSettings"]["Networks"]
        assert set(networks) == {f"{PROJECT}_data", f"{PROJECT}_outside"}, networks
    [postgres] = containers("postgres")
    assert set(inspected(postgres)["NetworkSettings"]["Networks"]) == {f"{PROJECT}_data"}
    assert json.loads(docker("network", "inspect", f"{PROJECT}_data"))[0]["Internal"]


def test_server_and_worker_log_in_as_a_role_that_owns_nothing():
    [postgres] = containers("postgres")
    roles = docker("exec", postgres, "psql", "-h", "/var/run/postgresql", "-U", "owner", "-d", "remembrancer", "-Atc",
                   "select distinct usename from pg_stat_activity where application_name = 'remembrancer'")
    assert roles == "remembrancer", roles
    rights = docker("exec", postgres, "psql", "-h", "/var/run/postgresql", "-U", "owner", "-d", "remembrancer", "-Atc",
                    "select rolsuper or rolcreaterole or rolcreatedb, (select count(*) from pg_class where relowner = r.oid)"
                    " from pg_roles r where rolname = 'remembrancer'")
    assert rights == "f|0", rights


def test_the_image_holds_model_and_licences_and_no_database():
    image = ENVIRONMENT["REMEMBRANCER_IMAGE"]
    listed = docker("run", "--rm", "--network", "none", "--read-only", image, "sh", "-c",
                    "find /var/lib/remembrancer /usr/share/doc/remembrancer")
    for wanted in ["libonnxruntime.so", "model_int8.onnx", "tokenizer.json", "doc/remembrancer/libraries.txt",
                   "doc/remembrancer/copyright", "ThirdPartyNotices.txt"]:
        assert wanted in listed, wanted
    assert "postgres" not in listed
    libraries = docker("run", "--rm", "--network", "none", image, "cat", "/usr/share/doc/remembrancer/libraries.txt")
    for name in ["tokio ", "sqlx ", "rmcp ", "Permission is hereby granted"]:
        assert name in libraries, name
    found = json.loads(docker("image", "inspect", image))[0]
    assert found["Config"]["User"] == "10001:10001" and found["Config"]["Healthcheck"]["Test"][1:] == ["remembrancer", "health"]
    labels = found["Config"]["Labels"]
    assert labels["org.opencontainers.image.licenses"] == "MIT" and labels["org.opencontainers.image.version"] == "current"
    FIGURES["image of these programs"] = f"{found['Size'] / 1e6:.0f} MB"
    programs = docker("run", "--rm", "--network", "none", image, "sh", "-c", "stat -Lc %s /usr/local/bin/remembrancer /usr/local/bin/event-worker")
    rest = found["Size"] - sum(int(size) for size in programs.split())
    FIGURES["image without the programs"] = f"{rest / 1e6:.0f} MB"
    # With release programs the whole is to stay within 250 MB.
    assert rest < 160e6, rest
    in_a_container = docker("run", "--rm", "--network", "none", "--read-only", "--cap-drop", "ALL", image, "remembrancer", "--version")
    assert in_a_container.startswith("remembrancer "), in_a_container


def test_three_workers_share_the_queue():
    up("--scale", "event-worker=3")
    until_healthy("event-worker", 3)
    with Load("three workers") as load:
        until("there is something to share", lambda: len(load.kept) >= 20)
    nothing_lost(load)
    rows = [line.split() for line in docker("stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}").splitlines()]
    FIGURES["memory"] = ", ".join(f"{name.replace(PROJECT + '_', '')} {used}" for name, used, *_ in rows if PROJECT in name)
    up("--scale", "event-worker=1")


def test_a_killed_service_is_brought_back_by_up_and_nothing_is_lost():
    for service in ["server", "event-worker", "qdrant", "postgres"]:
        with Load(f"killing {service}") as load:
            [victim] = containers(service)
            docker("kill", victim)
            time.sleep(1)
            up()
            until_healthy(service)
            before = len(load.kept)
            until("it is remembered again", lambda: len(load.kept) > before + 2)
        nothing_lost(load)


def test_a_service_that_crashes_comes_back_by_itself():
    for service in ["server", "event-worker", "postgres"]:
        with Load(f"crashing {service}") as load:
            [victim] = containers(service)
            before = inspected(victim)["RestartCount"]
            os.kill(inspected(victim)["State"]["Pid"], 9)
            until("it was started again", lambda: inspected(victim)["RestartCount"] > before)
            until_healthy(service)
            before = len(load.kept)
            until("it is remembered again", lambda: len(load.kept) > before + 2)
        nothing_lost(load)


def test_qdrant_and_postgres_cut_off_and_back():
    network = f"{PROJECT}_data"
    with Load("cut off") as load:
        [qdrant] = containers("qdrant")
        docker("network", "disconnect", network, qdrant)
        before = len(load.kept)
        until("without Qdrant it is remembered all the same", lambda: len(load.kept) > before + 2)
        assert "API design" in json.dumps(call("recall", query="What did Alice promise? API design"))
        docker("network", "connect", "--alias", "qdrant", network, qdrant)

        [postgres] = containers("postgres")
        docker("network", "disconnect", network, postgres)
        began = time.monotonic()
        try:
            call("remember", content="This cannot be stored.")
            raise RuntimeError("it was acknowledged without a database")
        except AssertionError:
            assert time.monotonic() - began < 90, "whoever calls is told within a minute and a half"
        assert get("/livez") == 200, "the process lives while the database is away"
        until("it says that it is not ready", lambda: get("/readyz") == 503)
        docker("network", "connect", "--alias", "postgres", network, postgres)
        until("it is ready again", lambda: get("/readyz") == 200)
        before = len(load.kept)
        until("it is remembered again", lambda: len(load.kept) > before + 2)
    nothing_lost(load)
    for service in ["server", "event-worker"]:
        [one] = containers(service)
        assert inspected(one)["RestartCount"] <= 1, f"{service} was not restarted for it"

    def mirrored():
        return call("status")["services"]["vector_mirror"]["status"] == "up"

    until("the mirror is back", mirrored)


def test_down_and_up_keep_everything():
    compose("down")
    assert not containers("server", every=True)
    up()
    lost = asyncio.run(lost_of(everything))
    assert not lost, lost[:3]


def sql(statement):
    [postgres] = containers("postgres")
    return docker("exec", postgres, "psql", "-h", "/var/run/postgresql", "-U", "owner", "-d", "remembrancer", "-v", "ON_ERROR_STOP=1",
                  "-Atc", statement)


def test_an_upgrade_from_the_previous_image_migrates_and_keeps_everything():
    up(REMEMBRANCER_IMAGE="remembrancer-test/remembrancer:previous")
    [one] = containers("server")
    assert inspected(one)["Config"]["Labels"]["org.opencontainers.image.version"] == "previous"
    text = "Carol Diaz will send the budget before the upgrade."
    everything[text] = call("remember", content=text)["id"]
    settled()
    # As a version left it that did not know this migration.
    compose("stop", "server", "event-worker")
    latest = sql("select max(version) from _sqlx_migrations")
    sql("drop function create_vector_index(smallint); drop function drop_vector_index(smallint);"
        "drop function note_vector_changes(boolean); drop function clean_pending_lists(regclass[]);"
        "delete from _sqlx_migrations where version = 17")
    up()
    assert sql("select max(version), count(*) filter (where version = 17) from _sqlx_migrations") == f"{latest}|1"
    [two] = containers("server")
    assert two != one and inspected(two)["Config"]["Labels"]["org.opencontainers.image.version"] == "current"
    lost = asyncio.run(lost_of(everything))
    assert not lost, lost[:3]
    assert "budget" in json.dumps(call("recall", query="Who sends the budget?"))


def test_without_qdrant_postgres_searches():
    up("-f", str(DEPLOYMENT / "without-qdrant.yml"))
    assert not containers("qdrant")
    [server] = containers("server")
    assert "QDRANT_URL=" in inspected(server)["Config"]["Env"]
    assert "API design" in json.dumps(call("recall", query="What did Alice promise?"))
    assert call("remember", content="Written without Qdrant.")["id"]


REPLICAS = ["-f", str(DEPLOYMENT / "replicas.yml"), "-f", str(OVERRIDES / "balancer-image.yml")]


def servers_in_use():
    """How many servers the balancer gives calls to, as its own answer inside its container says. Its image here has no wget."""
    asking = "exec 3<>/dev/tcp/127.0.0.1/8404; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3"
    [balancer] = containers("balancer")
    answer = docker("exec", balancer, "bash", "-c", asking).splitlines()
    assert " 200 " in answer[0], answer
    return int(answer[-1])


def own_port(container):
    return int(inspected(container)["NetworkSettings"]["Ports"]["3100/tcp"][0]["HostPort"])


def test_two_servers_behind_a_balancer_share_everything():
    up(*REPLICAS, REMEMBRANCER_PORT="", BALANCER_PORT=str(PORT))
    until_healthy("server", 2)
    until("the balancer reaches them", lambda: get("/readyz") == 200 and servers_in_use() == 2)
    first, second = map(own_port, containers("server"))
    assert PORT not in (first, second)
    text = "Written to the first server, read from the second."
    key = call("remember", first, content=text)["id"]
    assert text in json.dumps(call("recall", second, id=key))
    assert text in json.dumps(call("recall", query="Where was it written, and where read?"))

    async def watched():
        async with asyncio.timeout(60), client(first) as watcher, client(second) as writer:
            async with watcher.listen(resource_subscriptions=["memory://knowledge-graph"]) as subscription:
                entity = {"name": "Ann", "entityType": "person", "observations": ["Likes tea"]}
                await ask(writer, "create_entities", entities=[entity])
                async for event in subscription:
                    assert event.uri == "memory://knowledge-graph", event
                    return

    asyncio.run(watched())


def test_servers_are_replaced_one_by_one_without_a_failed_call():
    with Load("rolling restart") as load, HalvesLoad(8) as halves:
        for one in containers("server"):
            docker("restart", "-t", "30", one)
            until_healthy("server", 2)
            # Not /readyz at the balancer: the other server answers it.
            until("the balancer gives it calls", lambda: servers_in_use() == 2)
            before = len(load.kept)
            until("it is remembered", lambda: len(load.kept) > before + 3)
    assert not load.refused, f"{len(load.refused)} of {len(load.kept)} calls failed: {load.refused[:3]}"
    answered = len(halves.answered)
    assert not halves.refused, f"{len(halves.refused)} of {answered} calls in two parts failed: {halves.refused[:3]}"
    nothing_lost(load)


def test_two_migrations_at_once_while_servers_work():
    command = ["docker-compose", "-f", "docker-compose.yml", *LOCAL, "run", "--rm", "-T", "migrate"]
    with Load("migrating") as load:
        both = [subprocess.Popen(command, cwd=DEPLOYMENT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for _ in range(2)]
        for one in both:
            out, error = one.communicate(timeout=120)
            assert one.returncode == 0 and "may read and write" in out, f"{out}\n{error}"
    assert not load.refused, load.refused[:3]
    nothing_lost(load)
    assert sql("select count(*) - count(distinct version) from _sqlx_migrations") == "0"


def test_the_observability_profile_is_sound():
    """Grafana's image is not to be had here: what is mounted is there, and the file is understood."""
    told = run("docker-compose", "-f", "docker-compose.yml", "--profile", "observability", "config")
    for mounted in ["prometheus/prometheus.yml", "prometheus/alerts.yml", "grafana/dashboards/remembrancer.json",
                    "grafana/provisioning/datasources/prometheus.yml", "grafana/provisioning/dashboards/remembrancer.yml"]:
        assert (DEPLOYMENT / mounted).is_file(), f"{mounted} is missing"
    assert "GF_SECURITY_ADMIN_PASSWORD__FILE: /run/secrets/grafana_password" in told
    for service in ["server", "event-worker"]:
        for one in containers(service):
            address = inspected(one)["NetworkSettings"]["Networks"][f"{PROJECT}_outside"]["IPAddress"]
            with urllib.request.urlopen(f"http://{address}:9464/metrics", timeout=10) as answer:
                assert "# TYPE " in answer.read().decode(), service


def test_a_postgres_of_somebody_else_whose_owner_is_no_superuser():
    compose("down", "-v", "--remove-orphans")
    managed = ["-f", str(DEPLOYMENT / "managed-postgres.yml")]
    # The networks are made with the first container.
    compose("run", "--rm", "-T", "--no-deps", "server", "true", files=managed)
    password = "the password of who owns it, with @ and / in it"
    (DEPLOYMENT / "secrets/superuser").write_text("f" * 32)
    (DEPLOYMENT / "secrets/superuser").chmod(0o444)
    name = f"{PROJECT}-managed"
    docker("run", "-d", "--name", name, "--user", "999:999", "--network", f"{PROJECT}_outside", "--network-alias", "elsewhere",
           "-v", f"{DEPLOYMENT}/secrets/superuser:/password:ro", "-e", "POSTGRES_USER=admin", "-e", "POSTGRES_DB=memory",
           "-e", "POSTGRES_PASSWORD_FILE=/password", "-e", "POSTGRES_INITDB_ARGS=--encoding=UTF8", "remembrancer-test/postgres")
    try:
        asked = ["docker", "exec", name, "psql", "-h", "/var/run/postgresql", "-U", "admin", "-v", "ON_ERROR_STOP=1"]
        until("it is made", lambda: run("docker", "exec", name, "pg_isready", "-q", "-h", "127.0.0.1", check=False).returncode == 0)
        run(*asked, "-d", "memory", "-c", f"create role team login createrole password '{password}'",
            "-c", "alter database memory owner to team", "-c", "create extension vector", "-c", "create extension pg_trgm",
            "-c", "create extension btree_gin", "-c", "alter schema public owner to team")
        (DEPLOYMENT / "secrets/owner_password").chmod(0o644)
        (DEPLOYMENT / "secrets/owner_password").write_text(password + "\n")
        up(*managed, REMEMBRANCER_OWNER_DATABASE_URL="postgres://team@elsewhere:5432/memory",
           REMEMBRANCER_DATABASE_URL="postgres://remembrancer@elsewhere:5432/memory")
        assert not containers("postgres")
        text = "Dora keeps the spare key with the neighbours."
        call("remember", content=text)
        settled()
        assert text in json.dumps(call("recall", query="Where is the spare key?"))
        roles = run(*asked, "-d", "memory", "-Atc", "select distinct usename from pg_stat_activity where application_name = 'remembrancer'")
        assert roles == "remembrancer", roles
    finally:
        docker("rm", "-f", "-v", name)


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_") and inspect.isfunction(test)]
    tests = [(name, test) for name, test in tests if not ONLY or any(part in name for part in ONLY)]
    name = "before the first test"
    try:
        for name, test in tests:
            began = time.monotonic()
            test()
            print(f"ok {name.removeprefix('test_')} ({time.monotonic() - began:.1f} s)", flush=True)
        print(f"{len(tests)} passed, 0 failed")
    except BaseException:
        print(f"FAILED {name}", flush=True)
        ran = compose("ps", check=False)
        print(ran.stdout + ran.stderr)
        ran = compose("logs", "--no-color", "--tail", "40", check=False)
        print(ran.stdout[-20000:])
        raise
    finally:
        for what, figure in FIGURES.items():
            print(f"figure: {what}: {figure}")
        if not os.environ.get("KEEP_STACK"):
            compose("down", "-v", "--remove-orphans", "-t", "5", check=False)


main()
