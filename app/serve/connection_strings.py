"""Connection strings for each client tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a simulated instance, or of an availability group listener, on this computer."""

    host: str
    port: int
    login: str
    password: str
    database: str


TOOLS: Final = {
    "sqlcmd": "sqlcmd -S {host},{port} -U {login} -P {password} -d {database} -C",
    "Management Studio": "Server={host},{port};User Id={login};Password={password};Database={database};"
    "TrustServerCertificate=True",
    "dbatools": "Connect-DbaInstance -SqlInstance '{host},{port}' -TrustServerCertificate -SqlCredential "
    "(New-Object pscredential '{login}', (ConvertTo-SecureString '{password}' -AsPlainText -Force))",
    "SqlClient (.NET)": "Data Source={host},{port};Initial Catalog={database};User ID={login};"
    "Password={password};Encrypt=True;TrustServerCertificate=True",
    "ODBC 18": "Driver={{ODBC Driver 18 for SQL Server}};Server={host},{port};Database={database};UID={login};"
    "PWD={password};Encrypt=yes;TrustServerCertificate=yes",
    "JDBC, DBeaver": "jdbc:sqlserver://{host}:{port};databaseName={database};user={login};password={password};"
    "encrypt=true;trustServerCertificate=true",
    "go-mssqldb": "sqlserver://{login}:{password}@{host}:{port}?database={database}&trustservercertificate=true",
    "tedious, mssql (Node)": "Server={host},{port};Database={database};User Id={login};Password={password};"
    "Encrypt=false",
    "python-tds": "pytds.connect(dsn='{host}', port={port}, database='{database}', user='{login}', "
    "password='{password}')",
    "pymssql": "pymssql.connect(server='{host}', port='{port}', user='{login}', password='{password}', "
    "database='{database}')",
    "SQLAlchemy": "mssql+pymssql://{login}:{password}@{host}:{port}/{database}",
    "FreeTDS tsql": "tsql -H {host} -p {port} -U {login} -P {password} -D {database}",
}
"""Connection string of each tool, from the tool's documentation.

Each run has a new certificate, so tools that check certificates are told to trust it. The form of SqlClient also
fits Management Studio's field for additional parameters.
"""


def format_connection_string(tool: str, address: Address) -> str:
    """Format the connection string for one of TOOLS."""
    return TOOLS[tool].format(
        host=address.host,
        port=address.port,
        login=address.login,
        password=address.password,
        database=address.database,
    )
