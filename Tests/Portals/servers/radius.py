"""FreeRADIUS beside the gateway: two accounts, and its own words for all others."""

from __future__ import annotations

import typing

from basics import RUN, waitFor

if typing.TYPE_CHECKING:
    from ground import Ground

SECRET, GUEST, SHORT, PASSWORD = "testing123", "guest@example.org", "short", "se&cret="
REFUSAL = "This account is not known here."


def start(ground: Ground) -> None:
    folder = RUN / "radius"
    folder.mkdir()
    (folder / "users").write_text(f"""{GUEST} Cleartext-Password := "{PASSWORD}"
    Reply-Message = "Welcome aboard.", Session-Timeout = 3600

{SHORT} Cleartext-Password := "{PASSWORD}"
    Session-Timeout = 12
""")
    (folder / "radiusd.conf").write_text(f"""logdir = {folder}
run_dir = {folder}
modules {{
    chap {{ }}
    pap {{ }}
    files {{
        usersfile = {folder}/users
    }}
    always ok {{
        rcode = ok
    }}
}}
client gateway {{
    ipaddr = 127.0.0.1
    secret = {SECRET}
}}
server hotspot {{
    listen {{
        type = auth
        ipaddr = 127.0.0.1
        port = 1812
    }}
    listen {{
        type = acct
        ipaddr = 127.0.0.1
        port = 1813
    }}
    authorize {{
        chap
        files
        pap
    }}
    authenticate {{
        Auth-Type PAP {{
            pap
        }}
        Auth-Type CHAP {{
            chap
        }}
    }}
    accounting {{
        ok
    }}
    post-auth {{
        Post-Auth-Type REJECT {{
            update reply {{
                Reply-Message := "{REFUSAL}"
            }}
        }}
    }}
}}
""")
    ground.start("radius", ground.command("ap", "freeradius", "-X", "-d", str(folder)))
    waitFor(lambda: "Ready to process requests" in log(ground), 20, "FreeRADIUS")


def log(ground: Ground) -> str:
    return (ground.logs / "radius.log").read_text(errors="replace")


def saw(ground: Ground, attribute: str) -> bool:
    """Whether the latest request for a login had this attribute."""
    return attribute in log(ground).rpartition("Received Access-Request")[2]
