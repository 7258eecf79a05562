import java.sql.*;
import java.util.*;

/** What run.py asks of a driver, by JDBC: java -cp DRIVER Client.java mssql-jdbc|jtds; with `follow`, what profiles.py does. */
public class Client {
    static final Map<String, String> ASKED = System.getenv();
    static boolean jtds;

    static void say(String check, Object value) {
        System.out.println(check + "\t" + value);
        System.out.flush();
    }

    static Connection open(String port) throws SQLException {
        String host = ASKED.get("HOST"), tls = ASKED.get("TLS");
        String url = jtds
            ? "jdbc:jtds:sqlserver://" + host + ":" + port + "/Sales;loginTimeout=5;ssl=" + Map.of("none", "off", "login", "request", "all", "require").get(tls)
            : "jdbc:sqlserver://" + host + ":" + port + ";databaseName=Sales;loginTimeout=5;" + (tls.equals("strict") ? "encrypt=strict;serverCertificate=" + ASKED.get("CERTIFICATE")
                : "trustServerCertificate=true;encrypt=" + tls.equals("all"));
        return DriverManager.getConnection(url, "sa", ASKED.get("PASSWORD"));
    }

    static String shown(Object value) {
        if (value == null) return "NULL";
        if (value instanceof Boolean b) return b ? "1" : "0";
        if (value instanceof byte[] raw) return HexFormat.of().withUpperCase().formatHex(raw);
        if (value instanceof java.math.BigDecimal number) return number.toPlainString();
        if (value instanceof Clob text) try { return text.getSubString(1, (int) text.length()); } catch (SQLException e) { return e.toString(); }
        return value.toString();
    }

    static String row(Connection c, String text) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(text)) {
            r.next();
            return row(r);
        }
    }

    static String row(ResultSet r) throws SQLException {
        StringJoiner out = new StringJoiner("|");
        for (int place = 1; place <= r.getMetaData().getColumnCount(); place++) out.add(shown(r.getObject(place)));
        return out.toString();
    }

    interface Asking {
        ResultSet rows() throws SQLException;
    }

    /** What a tool asks before it shows a tree. */
    static String catalog(DatabaseMetaData about) throws SQLException {
        List<Asking> all = List.of(
            () -> about.getCatalogs(), () -> about.getSchemas(), () -> about.getTables(null, null, "big", null), () -> about.getColumns(null, null, "big", "%"),
            () -> about.getPrimaryKeys(null, null, "t"), () -> about.getImportedKeys(null, null, "t"), () -> about.getExportedKeys(null, null, "t"),
            () -> about.getIndexInfo(null, null, "t", false, true), () -> about.getProcedures(null, null, "bad"),
            () -> about.getProcedureColumns(null, null, "bad", "%"), () -> about.getTypeInfo(), () -> about.getTableTypes(),
            () -> about.getBestRowIdentifier(null, null, "t", 1, true), () -> about.getVersionColumns(null, null, "t"),
            () -> about.getColumnPrivileges(null, null, "t", "%"), () -> about.getTablePrivileges(null, null, "t")
        );
        StringJoiner counts = new StringJoiner("|");
        for (Asking one : all) {  // the next one closes the rows of the one before
            int count = 0;
            try (ResultSet rows = one.rows()) {
                while (rows.next()) count++;
            }
            counts.add(String.valueOf(count));
        }
        return counts.toString();
    }

    static Object of(Object told, String name) throws Exception {
        return told.getClass().getMethod(name).invoke(told);
    }

    /** An application with one connection, until another server answers. */
    static void follow() throws Exception {
        String partner = ASKED.get("PARTNER"), name, first = "";
        int limit = 1000 * Integer.parseInt(ASKED.get("TIMEOUT"));
        String there = ASKED.get("HOST") + ":" + ASKED.get("PORT");
        String url = jtds
            ? "jdbc:jtds:sqlserver://" + there + "/Sales;loginTimeout=15;socketTimeout=" + limit / 1000
            : "jdbc:sqlserver://" + there + ";databaseName=Sales;loginTimeout=15;encrypt=false;socketTimeout=" + limit
                + (partner.isEmpty() ? "" : ";failoverPartner=" + partner);
        for (Connection c = null; ; Thread.sleep(100)) {
            try {
                if (c == null) c = DriverManager.getConnection(url, "sa", ASKED.get("PASSWORD"));
                name = row(c, "SELECT @@SERVERNAME");
            } catch (SQLException e) {
                if (first.isEmpty()) throw e;
                c = null;
                continue;
            }
            if (first.isEmpty()) System.out.println("ready");
            else if (!name.equals(first)) {
                say("back", name);
                System.exit(0);
            }
            first = name;
        }
    }

    public static void main(String[] arguments) throws Exception {
        jtds = arguments[0].equals("jtds");
        if (arguments.length > 1) follow();
        Connection c = open(ASKED.get("PORT"));
        say("login", row(c, "SELECT @@SERVERNAME"));
        say("values", row(c, ASKED.get("VALUES")));
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT n FROM big ORDER BY n")) {
            int count = 0;
            boolean ordered = true;
            while (r.next()) ordered &= r.getInt(1) == ++count;
            say("rows", count + "|" + ordered);
        }
        try (Statement s = c.createStatement()) {
            s.execute("\nEXEC bad");
        } catch (SQLException e) {
            if (jtds) say("error", e.getErrorCode() + "|" + e.getMessage());
            else {
                Object told = of(e, "getSQLServerError");
                say("error", of(told, "getErrorNumber") + "|" + of(told, "getErrorSeverity") + "|" + of(told, "getErrorState") + "|"
                    + of(told, "getProcedureName") + "|" + of(told, "getLineNumber") + "|" + of(told, "getErrorMessage"));
            }
        }
        try (PreparedStatement p = c.prepareStatement("SELECT ? + 1, ?, ?")) {
            for (int turn = 0; turn < 3; turn++) {  // the third has been prepared
                p.setInt(1, 41);
                p.setString(2, "ü'x");
                p.setNull(3, Types.INTEGER);
                try (ResultSet r = p.executeQuery()) {
                    r.next();
                    if (turn == 2) say("parameters", row(r));
                }
            }
        }
        c.setAutoCommit(false);
        try (Statement s = c.createStatement()) {
            int changed = s.executeUpdate("INSERT t VALUES (2)");
            if (changed != 1) say("broken", changed + " rows of one were counted");
        }
        c.rollback();
        c.setAutoCommit(true);
        say("transaction", row(c, "SELECT COUNT(*), @@TRANCOUNT FROM t"));
        try (Statement s = c.createStatement()) {
            s.setQueryTimeout(1);
            s.execute("WAITFOR DELAY '00:00:30'");
        } catch (SQLException e) {
            say("cancel", row(c, "SELECT 7"));
        }
        say("catalog", catalog(c.getMetaData()));
        say("ready", "");
        System.in.read();
        long begun = System.currentTimeMillis();
        for (int place = 0; ; place++) {
            try {
                if (c == null) c = open(ASKED.get(place % 2 == 0 ? "PORT" : "OTHER"));
                String name = row(c, "SELECT @@SERVERNAME");
                if (!name.equals("SERVER_A")) {
                    say("failover", name + "|" + (System.currentTimeMillis() - begun) / 1000.0);
                    System.exit(0);
                }
            } catch (SQLException e) {
                c = null;
            }
            Thread.sleep(100);
        }
    }
}
