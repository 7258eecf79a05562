// An application with one connection by SqlClient (see profiles.py): mcs -r:System.Data Follow.cs, mono Follow.exe.
using System;
using System.Data.SqlClient;
using System.Threading;

class Follow {
    static string Asked(string name) { return Environment.GetEnvironmentVariable(name); }

    static void Main() {
        var partner = Asked("PARTNER") == "" ? "" : "Failover Partner=" + Asked("PARTNER") + ";";
        var text = "Data Source=" + Asked("HOST") + "," + Asked("PORT") + ";Initial Catalog=Sales;User ID=sa;Password=" + Asked("PASSWORD")
            + ";Encrypt=false;Pooling=false;Connect Timeout=15;" + partner;
        SqlConnection c = null;
        var first = "";
        while (true) {
            try {
                if (c == null) { c = new SqlConnection(text); c.Open(); }
                var ask = new SqlCommand("SELECT @@SERVERNAME", c);
                if (Asked("TIMEOUT") != "0") ask.CommandTimeout = int.Parse(Asked("TIMEOUT"));
                var name = (string)ask.ExecuteScalar();
                if (first == "") { first = name; Console.WriteLine("ready"); }
                if (name != first) { Console.WriteLine("back\t" + name); Environment.Exit(0); }
            } catch (Exception e) {
                if (first == "") { Console.WriteLine("broken\t" + e.Message); Environment.Exit(1); }
                c = null;
            }
            Thread.Sleep(100);
        }
    }
}
