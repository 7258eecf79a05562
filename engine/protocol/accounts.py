"""Logins, users, the master key and certificates: access to an instance, a database and an endpoint.

Each function takes the server of the statement and raises SqlError with SQL Server's error number. See facts
1.4 in docs/facts.md.
"""

import zlib
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.commits import USER_KEY_PREFIX
from engine.constants import CERTIFICATE_VALIDITY_S
from engine.messages import Message, SqlError
from engine.model import Certificate, Client, FieldOf, Login, User, World, to_ticks
from engine.protocol import (
    clock,
    commits,
    connections,
    files,
    log_space,
    network,
    options,
    security,
    statements,
    volumes,
)

WINDOWS_SID_MIN: Final = 1 << 40
"""Lowest SID of Windows accounts. A Windows account has the same SID on every server."""


class CertificateFile(Struct, frozen=True):
    """File that BACKUP CERTIFICATE writes."""

    certificate: Certificate
    private: bool = False
    """True if the file contains the private key."""
    size_kb: float = 1.0
    password: str = ""
    """Password that decrypts the private key."""


# --- logins ----------------------------------------------------------------------------------------


def create_login(
    world: World,
    server: str,
    name: str,
    *,
    windows: bool = False,
    certificate: str | None = None,
    password: str | None = None,
    sid: int | None = None,
    default_database: str | None = None,
    default_language: str | None = None,
    check_policy: bool | None = None,
    check_expiration: bool | None = None,
) -> list[Message]:
    """Create a login. A SQL login gets a new SID on each server unless *sid* is given [WP].

    Raise 15407 or 15401 for a Windows account whose name cannot exist. All other accounts exist in the
    simulated domains.
    """
    instance = world.instances[server]
    if windows:
        _check_account(world, name)
    elif "\\" in name and certificate is None:
        raise SqlError(15006, name)
    if instance.find_login(name) is not None or name.lower() == "sa":
        raise SqlError(15025, name)
    if certificate is not None and security.find_certificate(instance, certificate) is None:
        raise SqlError(15151, "find", "certificate", certificate)
    if password is not None and check_policy is not False:
        check_password(password, name)
    if sid is not None and any(login.sid == sid for login in instance.logins):
        raise SqlError(15433)
    kind = "WINDOWS" if windows else "CERTIFICATE" if certificate is not None else "SQL"
    login = Login(
        name=name,
        sid=sid if sid is not None else compute_windows_sid(name) if windows else world.next_id(),
        kind=kind,
        password=password,
        default_database=default_database or "master",
        default_language=default_language or "",
        check_policy=check_policy is not False,
        check_expiration=bool(check_expiration),
    )
    _check_expiration(login)
    world.update_instance(server, logins=(*instance.logins, login))
    return []


def _check_expiration(login: Login) -> None:
    if login.check_expiration and not login.check_policy:
        raise SqlError(15122)


PASSWORD_CHARACTERS_MIN, PASSWORD_CHARACTER_KINDS_MIN = 6, 3
"""Minimum length of a complex password, and minimum number of the four kinds of characters in it.

Documented [DOC: password must meet complexity requirements].
"""


def check_password(password: str, name: str = "") -> None:
    """Raise 15118 for a password that violates the Windows password policy, or that contains *name*.

    [DOC: password policy; CREATE MASTER KEY]
    """
    kinds = (str.isupper, str.islower, str.isdigit, lambda char: not char.isalnum())
    count = len([kind for kind in kinds if any(map(kind, password))])
    contains_name = len(name) > 2 and name.lower() in password.lower()
    if len(password) < PASSWORD_CHARACTERS_MIN or count < PASSWORD_CHARACTER_KINDS_MIN or contains_name:
        raise SqlError(15118)


def _check_account(world: World, name: str) -> None:
    domain, slash, account = name.partition("\\")
    if not (domain and slash and account):
        raise SqlError(15407, name)
    known_accounts = {
        word.lower()
        for instance in world.instances.values()
        for word in (world.computers[instance.computer].domain, instance.name)
    }
    if domain.lower() not in known_accounts | BUILTIN_DOMAINS:
        raise SqlError(15401, name)


BUILTIN_DOMAINS: Final = frozenset({"builtin", "nt authority", "nt service"})
"""Domains of the accounts that every Windows installation has."""


def compute_windows_sid(account: str) -> int:
    """Return the SID of a Windows account."""
    return WINDOWS_SID_MIN + zlib.crc32(account.lower().encode())


def alter_login(
    world: World, server: str, name: str, *, state: str | None = None, **changes: FieldOf[Login]
) -> list[Message]:
    """Enable, disable or change a login.

    *state*: ENABLE, DISABLE or None. *changes*: new values of fields of Login; None leaves a field unchanged.
    """
    login = _require_login(world, server, name, "alter")
    fields: dict[str, object] = {key: value for key, value in changes.items() if value is not None}
    if state is not None:
        fields["disabled"] = state.upper() == "DISABLE"
    changed_login = replace(login, **fields)
    _check_expiration(changed_login)
    if changed_login.check_policy and "password" in fields:
        check_password(str(fields["password"]), name)
    _store_login(world, server, login, changed_login)
    network.schedule_detections(world)
    return []


def drop_login(world: World, server: str, name: str) -> list[Message]:
    """Drop a login with its endpoint permission. Its database users remain as orphans."""
    login = _require_login(world, server, name, "drop")
    end = world.instances[server].endpoint
    if end is not None and end.owner.lower() == login.name.lower():
        raise SqlError(15141, "endpoint")
    _store_login(world, server, login, None)
    if end is not None and login.name in end.granted:
        granted = tuple(name for name in end.granted if name != login.name)
        world.update_instance(server, endpoint=replace(end, granted=granted))
    network.schedule_detections(world)
    return []


def list_predefined_logins(world: World, server: str) -> list[str]:
    """Return the predefined logins of Windows accounts: system, services, administrators, clients."""
    instance, domain = world.instances[server], world.get_computer_of(server).domain
    builtin = "BUILTIN\\Administrators" if instance.version == 2005 else "NT SERVICE\\MSSQLSERVER"
    names = ["NT AUTHORITY\\SYSTEM", builtin, instance.service_account, f"{domain}\\dba"]
    for name in sorted(world.clients):
        if not world.clients[name].login:
            names.append(connections.get_application_login(world, world.clients[name], server))
    login_names = {login.name.lower() for login in instance.logins}
    return [name for name in dict.fromkeys(names) if name.lower() not in login_names]


def _require_login(world: World, server: str, name: str, verb: str) -> Login:
    login = world.instances[server].find_login(name)
    if login is None and name.lower() == "sa":
        raise (
            SqlError(0, f"Not simulated: {verb.upper()} LOGIN of sa")
            if verb == "alter"
            else SqlError(15405, name)
        )
    if login is None and name.lower() in map(str.lower, list_predefined_logins(world, server)):
        raise SqlError(0, f"Not simulated: {verb.upper()} LOGIN of {name}")
    if login is None:
        raise SqlError(15151, verb, "login", name)
    return login


def _store_login(world: World, server: str, old_login: Login, new_login: Login | None) -> None:
    logins = (login if login is not old_login else new_login for login in world.instances[server].logins)
    world.update_instance(server, logins=tuple(login for login in logins if login is not None))


# --- users -----------------------------------------------------------------------------------------


def list_orphaned_users(world: World, server: str, database: str) -> tuple[User, ...]:
    """Return the users whose SID belongs to no login on this server (`sp_change_users_login 'Report'`)."""
    instance = world.instances[server]
    return tuple(
        u
        for u in commits.list_database_users(world, server, database)
        if u.sid and security.find_login_of_user(instance, u) is None
    )


def create_user(
    world: World,
    server: str,
    database: str,
    name: str,
    *,
    login: str | None = None,
    without_login: bool = False,
) -> list[Message]:
    """Create a user in *database*. In a mirrored database, the log carries the user to the mirror."""
    database = _require_open_database(world, server, database)
    if any(
        user.name.lower() == name.lower() for user in commits.list_database_users(world, server, database)
    ):
        raise SqlError(15023, name)
    sid = 0 if without_login else _require_login_for_user(world, server, login or name).sid
    if sid and any(user.sid == sid for user in commits.list_database_users(world, server, database)):
        raise SqlError(15063)
    _store_user(world, server, None, User(name=name, database=database, sid=sid))
    return []


def alter_user(
    world: World,
    server: str,
    database: str,
    name: str,
    *,
    login: str | None = None,
    new_name: str | None = None,
) -> list[Message]:
    """Rename a user, or map an orphaned user to a login of this server."""
    user = _require_user(world, server, database, name, "alter")
    sid = user.sid if login is None else _require_login_for_user(world, server, login).sid
    _store_user(world, server, user, replace(user, sid=sid, name=new_name or user.name))
    return []


def drop_user(world: World, server: str, database: str, name: str) -> list[Message]:
    """Drop a user. A user of master that owns a certificate cannot be dropped."""
    if name.lower() == "guest":
        raise SqlError(15539, name)
    if name.lower() in ("dbo", "sys", "information_schema"):
        raise SqlError(15150, "drop", "user", name)
    user = _require_user(world, server, database, name, "drop")
    owned = [c for c in world.instances[server].certificates if c.owner == user.name]
    if user.database == "master" and owned:
        raise SqlError(15138, "certificate")
    _store_user(world, server, user, None)
    return []


def _require_login_for_user(world: World, server: str, name: str) -> Login:
    login = world.instances[server].find_login(name)
    if name.lower() == "sa":
        raise SqlError(15405, name)
    if login is None:
        raise SqlError(15007, name)
    return login


def _require_open_database(world: World, server: str, database: str) -> str:
    statements.check_database_access(world, server, database)
    if database.lower() in ("master", "msdb", "tempdb", "model"):
        return database.lower()
    return statements.require_copy(world, server, database).database


def _require_user(world: World, server: str, database: str, name: str, verb: str) -> User:
    database = _require_open_database(world, server, database)
    for user in commits.list_database_users(world, server, database):
        if user.name.lower() == name.lower():
            return user
    raise SqlError(15151, verb, "user", name)


USER_CHANGE_LOG_KB: Final = 1.0
"""Amount of log that CREATE USER, ALTER USER or DROP USER writes, in KB. Assumed."""


def _store_user(world: World, server: str, old_user: User | None, new_user: User | None) -> None:
    """Replace *old_user* with *new_user*.

    None as *old_user* adds a user, and None as *new_user* removes one. In a user database the change is
    logged, which may raise 9002. Users of master are stored with the instance.
    """
    key = (server, (new_user or old_user or User(name="", database="", sid=0)).database)
    if key in world.copies:
        removed_users = {old_user.name: None} if old_user is not None else {}
        changed_users = {**removed_users, **({new_user.name: new_user} if new_user is not None else {})}
        log_space.write_log(world, key, USER_CHANGE_LOG_KB)
        edits = tuple((USER_KEY_PREFIX + name.lower(), user) for name, user in changed_users.items())
        commits.append_commit(world, key, edits, USER_CHANGE_LOG_KB)
    else:
        users = [user for user in world.instances[server].users if user is not old_user]
        world.update_instance(server, users=tuple([*users, new_user] if new_user is not None else users))
    world.mark_all_logs_changed()
    network.schedule_detections(world)


# --- the master key and certificates ----------------------------------------------------------------


def create_master_key(world: World, server: str) -> list[Message]:
    """Create the master key of the master database, encrypted by a password."""
    if world.instances[server].master_key:
        raise SqlError(15578)
    world.update_instance(server, master_key=True)
    return []


def drop_master_key(world: World, server: str) -> list[Message]:
    """Drop the master key, unless it encrypts a certificate."""
    instance = world.instances[server]
    if not instance.master_key:
        raise SqlError(15151, "drop", "symmetric key", "master key")
    certificate_name = next(
        (certificate.name for certificate in instance.certificates if certificate.has_private_key),
        None,
    )
    if certificate_name is not None:
        raise SqlError(15580, "master key", "certificate", certificate_name)
    world.update_instance(server, master_key=False)
    return []


def create_certificate(
    world: World,
    server: str,
    name: str,
    *,
    owner: str | None = None,
    subject: str | None = None,
    start_date: str | None = None,
    expiry_date: str | None = None,
    file: str | None = None,
    private_key_file: str | None = None,
    decryption: str = "",
) -> list[Message]:
    """Create a certificate in master, either new with its private key or imported from *file*.

    *decryption* is the password of *private_key_file*.
    """
    instance = world.instances[server]
    if security.find_certificate(instance, name) is not None:
        raise SqlError(15232, name)
    if owner is not None and owner.lower() != "dbo":
        owner = _require_user(world, server, "master", owner, "find").name
    if file is not None:
        new_certificate = _import_certificate(world, server, name, file, private_key_file, decryption)
    else:
        if not instance.master_key:
            raise SqlError(15581, state=3)
        begins = world.tick if start_date is None else clock.parse_tick(world, start_date)
        lasts = begins + to_ticks(CERTIFICATE_VALIDITY_S)
        new_certificate = Certificate(
            name=name,
            thumbprint=world.next_id(),
            subject=subject or name,
            valid_from_tick=begins,
            expires_tick=lasts if expiry_date is None else clock.parse_tick(world, expiry_date),
        )
    new_certificate = replace(new_certificate, owner="dbo" if owner is None else owner)
    world.update_instance(server, certificates=(*instance.certificates, new_certificate), refused=())
    network.schedule_detections(world)
    return []


def _read_certificate_file(world: World, server: str, path: str) -> CertificateFile:
    """Return the file of a certificate or of its private key. Raise 15208 if there is no such file."""
    file = files.find_file(world, server, path)
    if not isinstance(file, CertificateFile):
        raise SqlError(15208, path)
    return file


def _import_certificate(
    world: World, server: str, name: str, file: str, private_key_file: str | None, password: str
) -> Certificate:
    certificate = _read_certificate_file(world, server, file).certificate
    key = _read_certificate_file(world, server, private_key_file) if private_key_file is not None else None
    same_certificates = [
        c for c in world.instances[server].certificates if c.thumbprint == certificate.thumbprint
    ]
    if same_certificates:
        raise SqlError(15232, same_certificates[0].name)
    if key is not None and key.private and key.password != password:
        raise SqlError(15465)
    owns_certificate = (
        key is not None and key.private and key.certificate.thumbprint == certificate.thumbprint
    )
    return replace(certificate, name=name, has_private_key=owns_certificate)


def back_up_certificate(
    world: World, server: str, name: str, file: str, private_key_file: str | None = None, password: str = ""
) -> list[Message]:
    """Write the public part of a certificate into *file*.

    The optional *private_key_file* receives the certificate's private key, encrypted with *password*.
    """
    certificate = security.find_certificate(world.instances[server], name)
    if certificate is None:
        raise SqlError(15151, "find", "certificate", name)
    paths = [path for path in (file, private_key_file) if path is not None]
    for path in paths:
        drive = volumes.get_drive_letter(path)
        is_on_lost_drive = drive != "" and not volumes.has_drive(world.get_computer_of(server), drive)
        if is_on_lost_drive or files.find_file(world, server, path) is not None:
            raise SqlError(15240, path)
    for path in paths:
        private = path == private_key_file
        world.files[server, path] = CertificateFile(
            certificate, private=private, password=password if private else ""
        )
    return []


def build_missing_backup_warning(world: World, server: str, name: str) -> list[Message]:
    """Return warning 33091 unless a file with the private key of the certificate exists [DOC: TDE]."""
    certificate = security.find_certificate(world.instances[server], name)
    backups = [f for f in world.files.values() if isinstance(f, CertificateFile) and f.private]
    if certificate is None or any(f.certificate.thumbprint == certificate.thumbprint for f in backups):
        return []
    return [statements.build_information(33091)]


def drop_certificate(world: World, server: str, name: str) -> list[Message]:
    """Drop a certificate. This fails if the endpoint uses the certificate for authentication."""
    instance = world.instances[server]
    certificate = security.find_certificate(instance, name)
    if certificate is None:
        raise SqlError(15151, "drop", "certificate", name)
    if security.find_endpoint_certificate(instance) is certificate:
        raise SqlError(15352, certificate.name)
    if options.is_key_protected_by(world, server, certificate.thumbprint):
        raise SqlError(3716, "certificate", certificate.name, "database encryption key")
    certificates = tuple(c for c in instance.certificates if c is not certificate)
    world.update_instance(server, certificates=certificates)
    network.schedule_detections(world)
    return []


# --- the application's login -----------------------------------------------------------------------


def find_login_refusal(world: World, client: Client, server: str) -> SqlError | None:
    """Return the error with which the server rejects the application's login, or None.

    The error is 18456 if the login is missing or disabled. If the login has no user in one of the
    application's databases, the error is 4060, followed by 18456.
    """
    if not client.login or client.login.lower() == "sa":
        return None
    login = world.instances[server].find_login(client.login)
    if login is None or login.disabled:
        return SqlError(18456, client.login)
    for database in client.databases:
        if not any(user.sid == login.sid for user in commits.list_database_users(world, server, database)):
            return SqlError(4060, database, also=(18456,))
    return None


# --- permissions and roles --------------------------------------------------------------------------------
# Permissions in a database are part of its log. Permissions of the server belong to the instance.

SECURITY_KEY: Final = "\0security"
"""Key under which a `Security` is stored: among the users of a database, or among the objects of an instance."""

INSTANCE_SCOPE: Final = ""
"""Value of a *database* argument that stands for the instance."""

GRANT_LOG_KB: Final = 1.0
"""Amount of log that GRANT, DENY, REVOKE or a change of a role writes, in KB. Assumed."""


class Grant(Struct, frozen=True):
    """Permission that is granted or denied to a principal. Names are in lowercase."""

    kind: str
    """Kind of the securable: SERVER, LOGIN, DATABASE, USER, SCHEMA or OBJECT."""
    name: str
    """Name of the securable; empty for the server or the database itself."""
    permission: str
    grantee: str
    denied: bool = False


class Security(Struct, frozen=True):
    """Roles, role members and permissions of a database or of the instance."""

    roles: tuple[str, ...] = ()
    """Roles created by CREATE ROLE, in their original spelling."""
    members: tuple[tuple[str, str], ...] = ()
    """Pairs (role, member), in lowercase."""
    grants: tuple[Grant, ...] = ()


NO_SECURITY: Final = Security()


def read_security(world: World, server: str, database: str) -> Security:
    """Return the roles and permissions of a database, or of the instance if *database* is INSTANCE_SCOPE."""
    for copy in world.copies.values():
        if copy.server == server and copy.database.lower() == database.lower():
            last_commit = commits.find_newest_commit(world, copy)
            return _convert_security(last_commit.users.get(SECURITY_KEY) if last_commit is not None else None)
    return _convert_security(world.objects.get((server, database.lower(), SECURITY_KEY)))


def _convert_security(stored: object) -> Security:
    return stored if isinstance(stored, Security) else NO_SECURITY


def store_security(world: World, server: str, database: str, security: Security) -> None:
    """Store *security* in the log of a user database. Otherwise store it in the instance."""
    if database.lower() in (INSTANCE_SCOPE, *statements.SYSTEM_DATABASES):
        world.objects[server, database.lower(), SECURITY_KEY] = security
        return
    key = statements.require_copy(world, server, database).key
    log_space.write_log(world, key, GRANT_LOG_KB)
    commits.append_commit(world, key, ((USER_KEY_PREFIX + SECURITY_KEY, security),), GRANT_LOG_KB)


def apply_grants(security: Security, verb: str, grants: tuple[Grant, ...]) -> Security:
    """Return *security* after GRANT, DENY or REVOKE of *grants*.

    GRANT and DENY replace the grantee's entry for the permission; REVOKE removes it.
    """
    keys = {(grant.kind, grant.name, grant.permission, grant.grantee) for grant in grants}
    kept_grants = tuple(g for g in security.grants if (g.kind, g.name, g.permission, g.grantee) not in keys)
    return replace(security, grants=kept_grants if verb == "REVOKE" else (*kept_grants, *grants))


def list_principal_roles(security: Security, name: str) -> set[str]:
    """Return the roles of a principal, including indirect ones and public."""
    roles, todo = {"public"}, [name.lower()]
    while todo:
        member = todo.pop()
        new = {role for role, member_name in security.members if member_name == member} - roles
        roles |= new
        todo += new
    return roles
