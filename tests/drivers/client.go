// What run.py asks of a driver, by go-mssqldb; with `follow`, what profiles.py does.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

func say(check string, value any) { fmt.Printf("%s\t%v\n", check, value) }

func open(port string) *sql.DB {
	tls := map[string]string{
		"none": "disable", "login": "false&TrustServerCertificate=true", "all": "true&TrustServerCertificate=true",
		"strict": "strict&certificate=" + os.Getenv("CERTIFICATE"),
	}[os.Getenv("TLS")]
	db, err := sql.Open("sqlserver", fmt.Sprintf(
		"sqlserver://sa:%s@%s:%s?database=Sales&encrypt=%s&dial+timeout=5&connection+timeout=60",
		os.Getenv("PASSWORD"), os.Getenv("HOST"), port, tls))
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return "NULL"
	case bool:
		if v {
			return "1"
		}
		return "0"
	case time.Time:
		return v.Format("2006-01-02 15:04:05.999")
	case []byte:
		return fmt.Sprintf("%X", v)
	}
	return fmt.Sprint(value)
}

// The types whose bytes are text or a number, not bytes.
func row(db *sql.DB, text string, parameters ...any) (string, error) {
	rows, err := db.Query(text, parameters...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	kinds, _ := rows.ColumnTypes()
	values, places := make([]any, len(kinds)), make([]any, len(kinds))
	for n := range values {
		places[n] = &values[n]
	}
	rows.Next()
	if err := rows.Scan(places...); err != nil {
		return "", errors.Join(err, rows.Err())
	}
	out := make([]string, len(kinds))
	for n, value := range values {
		raw, isRaw := value.([]byte)
		switch kind := kinds[n].DatabaseTypeName(); {
		case isRaw && (kind == "DECIMAL" || kind == "MONEY"):
			out[n] = string(raw)
		case isRaw && kind == "UNIQUEIDENTIFIER":
			var id mssql.UniqueIdentifier
			_ = id.Scan(raw)
			out[n] = id.String()
		default:
			out[n] = shown(value)
		}
	}
	return strings.Join(out, "|"), rows.Err()
}

func must(value string, err error) string {
	if err != nil {
		say("broken", err)
		os.Exit(1)
	}
	return value
}

// An application with one connection, until another server answers.
func follow() {
	partner := ""
	if os.Getenv("PARTNER") != "" {
		host, port, _ := strings.Cut(os.Getenv("PARTNER"), ",")
		partner = "&failoverpartner=" + host + "&failoverport=" + port
	}
	db, err := sql.Open("sqlserver", fmt.Sprintf("sqlserver://sa:%s@%s:%s?database=Sales&encrypt=disable&dial+timeout=15%s",
		os.Getenv("PASSWORD"), os.Getenv("HOST"), os.Getenv("PORT"), partner))
	must("", err)
	db.SetMaxOpenConns(1)
	seconds, _ := strconv.Atoi(os.Getenv("TIMEOUT"))
	for first := ""; ; time.Sleep(100 * time.Millisecond) {
		var name string
		c, err := db.Conn(context.Background()) // no deadline but that of the driver; the query has its own
		if err == nil {
			limited, stop := context.WithCancel(context.Background())
			if seconds > 0 {
				limited, stop = context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
			}
			err = c.QueryRowContext(limited, "SELECT @@SERVERNAME").Scan(&name)
			stop()
			c.Close()
		}
		switch {
		case err != nil && first == "":
			must("", err)
		case err != nil:
		case first == "":
			first = name
			fmt.Println("ready")
		case name != first:
			say("back", name)
			return
		}
	}
}

func main() {
	if len(os.Args) > 1 {
		follow()
		return
	}
	db := open(os.Getenv("PORT"))
	say("login", must(row(db, "SELECT @@SERVERNAME")))
	say("values", must(row(db, os.Getenv("VALUES"))))
	count, ordered := 0, true
	rows, err := db.Query("SELECT n FROM big ORDER BY n")
	must("", err)
	for rows.Next() {
		var n int
		count++
		ordered = rows.Scan(&n) == nil && n == count && ordered
	}
	rows.Close()
	say("rows", fmt.Sprintf("%d|%t", count, ordered))
	_, err = db.Exec("\nEXEC bad")
	var told mssql.Error
	if errors.As(err, &told) {
		say("error", fmt.Sprintf("%d|%d|%d|%s|%d|%s", told.Number, told.Class, told.State, told.ProcName, told.LineNo, told.Message))
	}
	say("parameters", must(row(db, "SELECT @a + 1, @b, @c", sql.Named("a", 41), sql.Named("b", "ü'x"), sql.Named("c", nil))))
	begun, err := db.Begin()
	must("", err)
	_, err = begun.Exec("INSERT t VALUES (2)")
	must("", err)
	must("", begun.Rollback())
	say("transaction", must(row(db, "SELECT COUNT(*), @@TRANCOUNT FROM t")))
	limited, stop := context.WithTimeout(context.Background(), 500*time.Millisecond)
	_, err = db.ExecContext(limited, "WAITFOR DELAY '00:00:30'")
	stop()
	if err != nil {
		say("cancel", must(row(db, "SELECT 7")))
	}
	say("ready", "")
	bufio.NewReader(os.Stdin).ReadString('\n')
	since := time.Now()
	both := []*sql.DB{db, open(os.Getenv("OTHER"))}
	for place := 0; ; place++ {
		name, err := row(both[place%2], "SELECT @@SERVERNAME")
		if err == nil && name != "SERVER_A" {
			say("failover", fmt.Sprintf("%s|%.2f", name, time.Since(since).Seconds()))
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
