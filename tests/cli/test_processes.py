# SPDX-License-Identifier: MIT
"""record, take and doctor, with stand-ins for mono and for a recorded process."""
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403
import cli  # noqa: E402


def script(name, text):
    path = os.path.join(cli.folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        out.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


@test
def record_puts_the_module_behind_mono():
    mono = script("bin/mono", 'for a; do echo "[$a]"; done; exit 3\n')
    out = run("record", "--snapshot=gc+5s", "--strict", "-o", "a,b.hs", "--", mono, "--gc=sgen",
              "app.exe", "--json", "-o", status=3).out
    assert out.split("\n")[:5] == ["[--profile=heapshot:snapshot=gc+5s,strict,output=a\\,b.hs]",
                                   "[--gc=sgen]", "[app.exe]", "[--json]", "[-o]"]
    assert run("record", mono, status=3).out == "[--profile=heapshot]\n"
    assert "[--profile=heapshot:events=gc,memory=4M]" in run(
        "record", "--options", "events=gc,memory=4M", mono, status=3).out
    # A mistake is told before the program runs.
    result = run("record", "--snapshto=gc", mono, status=USAGE)
    assert result.out == "" and "snapshot" in result.err, result.err
    # Found by the PATH too.
    environment = dict(os.environ, PATH=os.path.dirname(mono) + ":/usr/bin:/bin")
    assert "[app.exe]" in run("record", "mono", "app.exe", status=3, env=environment).out


@test
def record_hands_statuses_through():
    for end, status in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -15 $$", 143)):
        run("record", "--", script("bin/mono", end + "\n"), status=status)
    assert "cannot run ./missing" in run("record", "./missing", status=127).err
    plain = write("plain", b"")
    assert "cannot run" in run("record", plain, status=126).err
    # An assembly without mono: not for a shell to read.
    os.chmod(write("app.exe", b"MZ\x90\n"), 0o755)
    names = {"app.exe": 127}
    if not os.path.exists("/proc/sys/fs/binfmt_misc/cli"):
        names["./app.exe"] = 126
    for name, status in names.items():
        assert "heapshot record -- mono %s\n" % name in run("record", name, status=status).err
    # A signal to the recorder reaches the program.
    mono = script("bin/mono", "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done\n")
    child = subprocess.Popen([cli.HEAPSHOT, "record", mono], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
    child.stdout.readline()
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=20) == 5
    child.stdout.close()


@test
def record_says_what_to_type_next():
    mono = script("bin/mono", "cp '%s' $$.hs\n" % recording("small"))
    err = run("record", mono).err
    name = err.split()[-1]
    assert err == "heapshot: next: heapshot %s\n" % name
    assert run("record", "--quiet", mono).err == ""
    assert run_json("top", name)["snapshot"] == 2
    mono = script("bin/mono", "cp '%s' x-$$.hs\n" % recording("small"))
    data = json.loads(run("record", "--json", "-ox-%p.hs", mono).out)
    assert list(data) == ["output", "pid", "status"]
    assert data["output"] == "x-%d.hs" % data["pid"] and data["status"] == 0
    mono = script("bin/mono", "head -c 300 '%s' > $$.hs\n" % recording("small"))
    assert "next: heapshot list " in run("record", mono).err
    err = run("record", "-o", "never.hs", script("bin/mono", "exit 0\n")).err
    assert "never.hs was not written; 'heapshot doctor'" in err


@test
def record_of_other_programs_uses_the_environment():
    program = script("bin/other", 'echo "$HEAPSHOT_OPTIONS|$MONO_ENV_OPTIONS|$1"\n')
    environment = {k: v for k, v in os.environ.items()
                   if k not in ("HEAPSHOT_OPTIONS", "MONO_ENV_OPTIONS")}
    out = run("record", "-o", "z.hs", program, "arg", env=environment).out
    assert out == "output=z.hs|--profile=heapshot|arg\n", out
    environment["MONO_ENV_OPTIONS"] = "--debug"
    out = run("record", program, "arg", env=environment).out
    assert out == "|--debug --profile=heapshot|arg\n", out


class Recorded:
    """A control socket that answers one request for this process."""

    def __init__(self, reply, path=None):
        self.runtime = os.path.join(cli.folder, "run")
        os.makedirs(os.path.join(self.runtime, "heapshot"), exist_ok=True)
        self.path = path or os.path.join(self.runtime, "heapshot", "%d.sock" % os.getpid())
        self.reply = reply
        self.request = b""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(1)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        peer, _ = self.socket.accept()
        while not self.request.endswith(b"\n"):
            self.request += peer.recv(4096)
        for i in range(len(self.reply)):
            peer.send(self.reply[i:i + 1])
        peer.close()

    def close(self):
        self.thread.join(timeout=20)
        self.socket.close()
        os.unlink(self.path)


def take(reply, *arguments, status=OK, path=None):
    recorded = Recorded(reply, path)
    environment = dict(os.environ, XDG_RUNTIME_DIR=recorded.runtime)
    try:
        result = run("take", path or str(os.getpid()), *arguments, status=status, env=environment)
    finally:
        recorded.close()
    return recorded.request, result


@test
def take_speaks_the_protocol():
    request, result = take(b"ok 7\n", "--label", "after login \u00e4")
    assert request == "take after login \u00e4\n".encode() and result.out == "snapshot 7 was taken\n"
    request, result = take(b"ok 8\n", "--stats", "--json")
    assert request == b"stats \n"
    assert json.loads(result.out) == {"process": str(os.getpid()), "snapshot": 8, "label": ""}
    _, result = take(b"error a snapshot is under way\n", status=CHECK_FAILED)
    assert "a snapshot is under way" in result.err
    _, result = take(b"", status=CHECK_FAILED)
    assert "gave no answer" in result.err
    _, result = take(b"\x1b[31mwhat\n", status=IO)
    assert "unexpected answer" in result.err and "\x1b" not in result.err
    request, result = take(b"ok 9\n", path=os.path.join(cli.folder, "own.sock"))
    assert result.out == "snapshot 9 was taken\n"


@test
def take_says_why_not():
    child = subprocess.Popen(["true"])
    child.wait()
    assert "no process" in run("take", str(child.pid), status=NOT_FOUND).err
    environment = dict(os.environ, XDG_RUNTIME_DIR=os.path.join(cli.folder, "none"))
    err = run("take", str(os.getpid()), status=NOT_FOUND, env=environment).err
    assert "has no control socket: it seems to be no Mono program" in err
    assert "no socket ./none" in run("take", "./none", status=NOT_FOUND).err
    # A socket that nobody serves any more.
    path = os.path.join(cli.folder, "dead.sock")
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(path)
    dead.close()
    assert "the recording has ended" in run("take", path, status=NOT_FOUND).err


@test
def doctor_explains():
    data = run_json("doctor", "--mono", "/nowhere/mono", status=CHECK_FAILED)
    assert list(data) == ["checks", "mono", "module", "ok"]
    assert data["ok"] is False and data["mono"] is None
    assert list(data["checks"][0]) == ["check", "ok", "detail", "advice"]
    # A mono whose folder has the module in ../lib, which it loads.
    mono = script("opt/bin/mono", 'echo "snapshot=WHEN   when"\n')
    os.makedirs(os.path.join(cli.folder, "opt/lib"), exist_ok=True)
    module = os.path.join(cli.folder, "opt/lib/libmono-profiler-heapshot.so")
    with open(cli.HEAPSHOT, "rb"):
        pass
    source = "/lib/x86_64-linux-gnu/libdl.so.2"
    subprocess.run(["cp", "-L", source if os.path.exists(source) else sys.executable, module],
                   check=True)
    data = run_json("doctor", "--mono", mono)
    assert data["ok"] is True and os.path.realpath(data["module"]) == os.path.realpath(module)
    out = run("doctor", "--mono", mono).out
    assert "All is well" in out and "FAIL" not in out
    # What mono leaves behind may keep its output open; it is not waited for.
    alive = os.path.join(cli.folder, "alive")
    open(alive, "w").close()
    script("opt/bin/mono", 'while [ -e "%s" ]; do sleep 0.1; done &\necho "snapshot=WHEN   when"\n' % alive)
    try:
        data = run_json("doctor", "--mono", mono)
        assert os.path.exists(alive) and data["ok"] is True
    finally:
        os.remove(alive)
    # Only a name with a version.
    os.rename(module, module + ".0")
    script("opt/bin/mono", "echo usage; exit 1\n")
    environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    data = run_json("doctor", "--mono", mono, status=CHECK_FAILED, env=environment)
    checks = {c["check"]: c for c in data["checks"]}
    if not checks["module"]["ok"]:  # one is installed in the system otherwise
        assert "only " in checks["module"]["detail"]
        assert "ln -s libmono-profiler-heapshot.so.0" in checks["module"]["advice"]
    assert not checks["trial"]["ok"] and "status 1" in checks["trial"]["detail"]


sys.exit(main())
