#!/usr/bin/python3 -ISB
"""A helper that writes down every call that it gets. Usage: listener.py RECORD LABELS [--train]

LABELS: a file with the annotations that it answers to FilterScanList. With --train it frees TrainNet, as a helper of that
operator's would; otherwise it claims nothing. What the user typed does not get into the record, but the names of the fields.
"""

import json
import os
import subprocess
import sys
import time

HOST, GATEWAY = "login.trainnet.example", "10.21.3.1"
PORTAL = {"origin": f"https://{HOST}", "kind": "train"}
FIELDS = [
    {"name": "UserName", "label": "User name", "kind": "text", "required": True},
    {"name": "Password", "label": "Password", "kind": "password", "required": True},
]


def page(link: dict, *words: str, fields: str = "") -> str:
    bound = ["curl", "-sS", "-m", "60", "--interface", link["interface"], "--resolve", f"{HOST}:443:{GATEWAY}", *words]
    return subprocess.run(bound, input=fields, capture_output=True, text=True).stdout


def reply(method: str, parameters: dict) -> dict:
    link = parameters["link"]
    if method == "PresentUI":
        fields = "&".join(f"{name}={value}" for name, value in parameters["answers"].items())
        seen = page(link, "--data", "@-", f"https://{HOST}/portal", fields=fields)
    else:
        seen = page(link, f"https://{HOST}/portal")
    isIn = "You are on board" in seen
    if method == "Logoff" and isIn:
        page(link, f"https://{HOST}" + seen.split('href="')[1].split('"')[0])
    if method == "Logoff" or isIn:
        return {"result": "success"}
    if method == "Maintain":
        return {"result": "authenticationRequired", "portal": PORTAL}
    return {"result": "uiRequired", "portal": PORTAL, "prompt": {"title": "TrainNet", "fields": FIELDS}}


def answer(method: str, parameters: dict) -> dict:
    if method == "Describe":
        return {"name": "listener", "displayName": "Listener", "version": "1"}
    if method == "FilterScanList":
        with open(sys.argv[2]) as labels:
            return {"annotations": json.load(labels)}
    if sys.argv[3:] != ["--train"]:
        return {"confidence": "none"} if method == "Evaluate" else {"reply": {"result": "failure"}}
    if method == "Evaluate":
        return {"confidence": "high", "portal": PORTAL}
    return {"reply": reply(method, parameters)}


call = b""
while not call.endswith(b"\0"):
    chunk = os.read(0, 65536)
    if not chunk:
        sys.exit(0)
    call += chunk
call = json.loads(call[:-1])
method, parameters = call["method"].rsplit(".", 1)[-1], call.get("parameters", {})
written = parameters | {name: sorted(parameters[name] or {}) for name in ("answers", "credential") if name in parameters}
# In one piece: this process may be ended at any time, and the record is read meanwhile.
line = json.dumps({"time": time.time(), "method": method, "parameters": written}) + "\n"
with open(sys.argv[1], "ab", buffering=0) as record:
    record.write(line.encode())
sys.stdout.buffer.write(json.dumps({"parameters": answer(method, parameters)}).encode() + b"\0")
