"""A Kerberos realm of a test's own: MIT Kerberos's KDC on a free loopback port, its database in a folder.

Programs of Debian's packages krb5-kdc (krb5kdc, kdb5_util), krb5-admin-server (kadmin.local) and krb5-user (kinit);
faketime for a KDC whose clock differs.
"""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from lag.embedded.config import HOST
from lag.embedded.java import find_java
from tests.support.secure_kafka import some_ports
from tests.support.waiting import wait_until

REALM = "GROUPSCOPE.TEST"
PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit", "faketime")
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"


def missing() -> str:
    """What to install before a test can use Kerberos; empty if all is there."""
    programs = [name for name in PROGRAMS if shutil.which(name, path=_PATH) is None]
    if programs:
        return f"{', '.join(programs)} not found: apt-get install krb5-kdc krb5-admin-server krb5-user faketime"
    if find_spec("gssapi") is None:
        return "gssapi is not installed: apt-get install gcc libkrb5-dev, then uv sync --inexact --all-extras"
    java = str(find_java().executable)
    modules = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=True).stdout
    return "" if "jdk.security.jgss" in modules else f"{java} has no GSSAPI: install a whole JRE, and set JAVA_HOME"


class Realm:
    """The realm's database in a folder, its principals, and KDCs on ports of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {
            "PATH": _PATH,
            "KRB5_CONFIG": str(self.krb5_conf("krb5.conf", 1)),
            "KRB5_KDC_PROFILE": str(self._kdc_conf("kdc.conf", 1)),
        }
        self._run("kdb5_util", "create", "-s", "-P", "master")

    def keytab(self, principal: str, name: str) -> Path:
        """The principal with a new random key, in a keytab of its own."""
        path = self._folder / name
        self._run("kadmin.local", "-q", f"addprinc -randkey {principal}")  # an existing one stays as it is
        self._run("kadmin.local", "-q", f"ktadd -k {path} {principal}")
        return path

    def delete(self, principal: str) -> None:
        """The KDC knows the principal no longer."""
        self._run("kadmin.local", "-q", f"delprinc -force {principal}")

    @contextmanager
    def kdc(self, *, ahead: str = "", **options: str) -> Iterator[Path]:
        """A KDC until the end, its clock `ahead` (`+1h`); yields a krb5.conf with it and `options` of [libdefaults]."""
        (port,) = some_ports(1)
        environment = self._environment | {"KRB5_KDC_PROFILE": str(self._kdc_conf(f"kdc-{port}.conf", port))}
        command = [*(["faketime", "-f", ahead] if ahead else []), self._path("krb5kdc"), "-n", "-r", REALM]
        with (self._folder / "kdc.out").open("ab") as output:
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, start_new_session=True)
            try:
                wait_until(lambda: _listens(port))
                yield self.krb5_conf(f"krb5-{port}.conf", port, **options)
            finally:
                os.killpg(process.pid, signal.SIGTERM)  # faketime and the KDC that it starts
                process.wait(30)

    def krb5_conf(self, name: str, port: int, **options: str) -> Path:
        """A krb5.conf with a KDC at this port."""
        path = self._folder / name
        lines = "".join(f"{key} = {value}\n" for key, value in options.items())
        path.write_text(f"""
[libdefaults]
default_realm = {REALM}
dns_lookup_kdc = false
dns_lookup_realm = false
dns_canonicalize_hostname = false
rdns = false
{lines}[realms]
{REALM} = {{
  kdc = {HOST}:{port}
}}
[domain_realm]
{HOST} = {REALM}
""")
        return path

    def _kdc_conf(self, name: str, port: int) -> Path:
        path = self._folder / name
        path.write_text(f"""
[kdcdefaults]
kdc_listen = {HOST}:{port}
kdc_tcp_listen = {HOST}:{port}
[realms]
{REALM} = {{
  database_name = {self._folder}/principal
  key_stash_file = {self._folder}/stash
  default_principal_flags = +preauth
  max_life = 1h
}}
[logging]
kdc = FILE:{self._folder}/kdc.log
""")
        return path

    def _run(self, program: str, *arguments: str) -> None:
        command = [self._path(program), "-r", REALM, *arguments]
        subprocess.run(command, env=self._environment, capture_output=True, text=True, check=True, timeout=60)

    @staticmethod
    def _path(program: str) -> str:
        found = shutil.which(program, path=_PATH)
        assert found is not None, program
        return found


def broker_properties(keytab: Path, principal: str, listener: str) -> Mapping[str, str]:
    """Kafka's properties of a listener whose clients log in with GSSAPI, every 2 s."""
    return {
        f"listener.name.{listener}.sasl.enabled.mechanisms": "GSSAPI",
        f"listener.name.{listener}.gssapi.sasl.jaas.config": (
            "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
            f'keyTab="{keytab}" principal="{principal}";'
        ),
        f"listener.name.{listener}.gssapi.connections.max.reauth.ms": "2000",
        "sasl.kerberos.service.name": "kafka",
    }


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False
