"""What the programs of deploy/patroni read: keys, certificates, settings. Nothing here starts any of them."""
import json
import secrets
import subprocess

# Failover. The primary's claim ends TTL_S after Patroni renewed it last, which it does every LOOP_S. An answer of etcd may
# take RETRY_S before the primary steps back: LOOP_S + 2 * RETRY_S may not be more than TTL_S.
TTL_S, LOOP_S, RETRY_S = 15, 3, 6
# So long may a primary that crashed, and whose Patroni lives, recover by itself before another takes over.
RECOVERY_S = 10
PASSWORDS = ("fathom", "postgres", "replicator", "rewinder")


def make_passwords():
    return {name: secrets.token_hex(24) for name in PASSWORDS}


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, text=True)


def make_certificates(folder):
    """ca.pem, and cluster.pem with its key, by which the cluster's programs show each other that they belong to it.
    The authority's own key is gone afterwards: nobody makes another member."""
    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc")
    openssl("req", "-x509", *new_key, "-keyout", folder / "ca.key", "-out", folder / "ca.pem", "-days", 3650,
            "-subj", "/CN=PostgreSQL of Fathom", "-addext", "keyUsage=critical,keyCertSign")
    openssl("req", "-new", *new_key, "-keyout", folder / "cluster.key", "-out", folder / "cluster.request",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
            "-addext", "extendedKeyUsage=serverAuth,clientAuth")
    openssl("x509", "-req", "-in", folder / "cluster.request", "-CA", folder / "ca.pem", "-CAkey", folder / "ca.key",
            "-set_serial", 2, "-days", 3650, "-copy_extensions", "copy", "-out", folder / "cluster.pem")
    for name in ("ca.key", "cluster.request"):
        (folder / name).unlink()


def etcd_command(folder, node, nodes):
    """etcd takes its settings as arguments, none of which is a secret."""
    def url(port):
        return f"https://127.0.0.1:{port}"
    clients, peers = url(node.ports["etcd"]), url(node.ports["etcd_peers"])
    members = ",".join(f"{one.name}={url(one.ports['etcd_peers'])}" for one in nodes)
    pair = (folder / "cluster.pem", folder / "cluster.key", folder / "ca.pem")
    settings = {
        "name": node.name, "data-dir": node.folder / "etcd",
        "listen-client-urls": clients, "advertise-client-urls": clients,
        "listen-peer-urls": peers, "initial-advertise-peer-urls": peers, "initial-cluster": members,
        # Whoever writes to etcd gives PostgreSQL its settings, commands among them: only the cluster's own may.
        **dict(zip(("cert-file", "key-file", "trusted-ca-file"), pair)), "client-cert-auth": "true",
        **dict(zip(("peer-cert-file", "peer-key-file", "peer-trusted-ca-file"), pair)), "peer-client-cert-auth": "true",
        "auto-compaction-mode": "periodic", "auto-compaction-retention": "1h",
        "logger": "zap", "log-outputs": "stderr", "log-level": "warn",
    }
    return ["etcd", *(f"--{name}={value}" for name, value in settings.items())]


def dynamic_settings():
    """Those that Patroni keeps in etcd, for all nodes."""
    return {
        "ttl": TTL_S, "loop_wait": LOOP_S, "retry_timeout": RETRY_S, "primary_start_timeout": RECOVERY_S,
        # A commit is acknowledged once a second server has it, and only such a server may take over. Strict: where there
        # is none, commits wait; they are not acknowledged by one server alone.
        "synchronous_mode": True, "synchronous_mode_strict": True, "synchronous_node_count": 1,
        "postgresql": {
            "use_pg_rewind": True, "use_slots": True,
            # The new primary makes a standby's slot a moment after it takes over: who asked before asks again soon, and
            # commits do not wait for that.
            "parameters": {"max_connections": 100, "wal_retrieve_retry_interval": "500ms"},
        },
    }


def patroni_settings(folder, node, nodes, passwords, programs):
    """JSON, which is YAML."""
    cluster, key, authority = (str(folder / name) for name in ("cluster.pem", "cluster.key", "ca.pem"))
    address, rest = (f"127.0.0.1:{node.ports[name]}" for name in ("postgresql", "patroni"))
    tls = {"sslmode": "verify-full", "sslrootcert": authority}
    users = {"superuser": "postgres", "replication": "replicator", "rewind": "rewinder"}
    return json.dumps({
        "scope": "fathom", "name": node.name,
        "etcd3": {"hosts": [f"127.0.0.1:{one.ports['etcd']}" for one in nodes], "protocol": "https",
                  "cacert": authority, "cert": cluster, "key": key},
        # Anybody may ask how it stands; what changes anything needs the cluster's certificate.
        "restapi": {"listen": rest, "connect_address": rest, "certfile": cluster, "keyfile": key, "cafile": authority,
                    "verify_client": "optional"},
        "ctl": {"insecure": False, "cacert": authority, "certfile": cluster, "keyfile": key},
        "bootstrap": {"dcs": dynamic_settings(), "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"]},
        "postgresql": {
            "listen": address, "connect_address": address, "data_dir": str(node.folder / "data"), "bin_dir": programs,
            "pgpass": str(node.folder / "pgpass"), "remove_data_directory_on_rewind_failure": True,
            "basebackup": [{"checkpoint": "fast"}],  # a new standby begins at once
            "authentication": {role: {"username": name, "password": passwords[name], **tls} for role, name in users.items()},
            "parameters": {"ssl": "on", "ssl_cert_file": cluster, "ssl_key_file": key, "unix_socket_directories": "",
                           "password_encryption": "scram-sha-256"},
            "pg_hba": ["hostssl replication replicator 127.0.0.1/32 scram-sha-256",
                       *(f"hostssl {database} {name} 127.0.0.1/32 scram-sha-256" for database, name in
                         (("fathom", "fathom"), ("all", "postgres"), ("postgres", "rewinder")))],
        },
    }, indent=2)


def haproxy_settings(folder, port, nodes):
    """TLS goes through to PostgreSQL unopened. A connection stays as long as its server is the primary: fathomd's wait for
    notifications for hours."""
    servers = "\n".join(f"    server {node.name} 127.0.0.1:{node.ports['postgresql']} port {node.ports['patroni']}" for node in nodes)
    return f"""# Written by each `deploy/patroni up`.
global
    maxconn 400
defaults
    mode tcp
    timeout connect 2s
    timeout check 2s
    timeout client 1d
    timeout server 1d
listen primary
    bind 127.0.0.1:{port}
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server check inter 1s fall 2 rise 1 check-ssl verify required ca-file {folder}/ca.pem on-marked-down shutdown-sessions
{servers}
"""
