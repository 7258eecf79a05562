module client

go 1.21

require github.com/microsoft/go-mssqldb v1.11.2
