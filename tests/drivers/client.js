// What run.py asks of a driver, by tedious or mssql for Node: node client.js tedious|mssql; with `follow`, what profiles.py does
const { HOST, PORT, OTHER, PASSWORD, TLS, CERTIFICATE, VALUES, TIMEOUT } = process.env;
// Of a server's certificate strict alone is checked.
const tls = TLS !== 'strict' ? { encrypt: TLS === 'all', trustServerCertificate: true }
  : { encrypt: 'strict', trustServerCertificate: false, cryptoCredentialsDetails: { ca: require('fs').readFileSync(CERTIFICATE) } };
const say = (check, value) => console.log(check + '\t' + value);
const shown = v => v === null ? 'NULL' : v === true ? '1' : v === false ? '0'
  : v instanceof Date ? v.toISOString().replace('T', ' ').replace('Z', '') : Buffer.isBuffer(v) ? v.toString('hex').toUpperCase() : String(v);
const failed = e => [e.number, e.class, e.state, e.procName, e.lineNumber, e.message].join('|');
const sleep = ms => new Promise(done => setTimeout(done, ms));
const line = () => new Promise(done => process.stdin.once('data', done));

function byTedious() {
  const { Connection, Request, TYPES } = require('tedious');
  const open = port => new Promise((done, refuse) => {
    const c = new Connection({ server: HOST, authentication: { type: 'default', options: { userName: 'sa', password: PASSWORD } },
      options: { port: +port, database: 'Sales', ...tls, connectTimeout: 5000, requestTimeout: 60000 } });
    c.on('error', () => {});
    c.connect(e => e ? refuse(e) : done(c));
  });
  const ask = (c, text, parameters, timeout) => new Promise((done, refuse) => {
    const rows = [];
    const r = new Request(text, e => e ? refuse(e) : done(rows));
    r.on('row', columns => rows.push(columns.map(column => column.value)));
    if (timeout) r.setTimeout(timeout);
    if (parameters) {
      parameters.forEach(([name, type, value]) => r.addParameter(name, TYPES[type], value));
      c.execSql(r);
    } else c.execSqlBatch(r);
  });
  const transaction = async c => {
    await new Promise((done, refuse) => c.beginTransaction(e => e ? refuse(e) : done()));
    await ask(c, 'INSERT t VALUES (2)');
    await new Promise((done, refuse) => c.rollbackTransaction(e => e ? refuse(e) : done()));
  };
  return { open, ask, transaction };
}

function byMssql() {
  const sql = require('mssql');
  const open = port => new sql.ConnectionPool({ server: HOST, port: +port, user: 'sa', password: PASSWORD, database: 'Sales', arrayRowMode: true,
    pool: { max: 1 }, connectionTimeout: 5000, requestTimeout: 60000, options: tls }).on('error', () => {}).connect();
  const ask = async (c, text, parameters, timeout) => {
    const r = new sql.Request(c);
    r.arrayRowMode = true;
    if (timeout) setTimeout(() => r.cancel(), timeout);
    if (parameters) parameters.forEach(([name, type, value]) => r.input(name, sql[type], value));
    return (await (parameters ? r.query(text) : r.batch(text))).recordset;
  };
  const transaction = async c => {
    const t = new sql.Transaction(c);
    await t.begin();
    await new sql.Request(t).batch('INSERT t VALUES (2)');
    await t.rollback();
  };
  return { open, ask, transaction };
}

// An application with one connection, until another server answers.
async function follow({ open, ask }) {
  for (let c, first; ; await sleep(100)) {
    try {
      c = c || await open(PORT);
      const name = (await ask(c, 'SELECT @@SERVERNAME', null, +TIMEOUT * 1000))[0][0];
      if (!first) console.log('ready');
      else if (name !== first) { say('back', name); process.exit(0); }
      first = name;
    } catch (e) {
      if (!first) throw e;
      c = null;
    }
  }
}

(async () => {
  const { open, ask, transaction } = process.argv[2] === 'mssql' ? byMssql() : byTedious();
  if (process.argv[3]) return follow({ open, ask });
  let c = await open(PORT);
  say('login', (await ask(c, 'SELECT @@SERVERNAME'))[0][0]);
  say('values', (await ask(c, VALUES))[0].map(shown).join('|'));
  const rows = await ask(c, 'SELECT n FROM big ORDER BY n');
  say('rows', rows.length + '|' + rows.every(([n], place) => n === place + 1));
  try { await ask(c, '\nEXEC bad'); } catch (e) { say('error', failed(e)); }
  say('parameters', (await ask(c, 'SELECT @a + 1, @b, @c', [['a', 'Int', 41], ['b', 'NVarChar', "ü'x"], ['c', 'Int', null]]))[0].map(shown).join('|'));
  await transaction(c);
  say('transaction', (await ask(c, 'SELECT COUNT(*), @@TRANCOUNT FROM t'))[0].join('|'));
  try { await ask(c, "WAITFOR DELAY '00:00:30'", null, 500); } catch (e) { say('cancel', (await ask(c, 'SELECT 7'))[0][0]); }
  say('ready', '');
  await line();
  const begun = Date.now();
  for (let place = 0; ; place++) {
    try {
      if (!c) c = await open([PORT, OTHER][place % 2]);
      const name = (await ask(c, 'SELECT @@SERVERNAME'))[0][0];
      if (name !== 'SERVER_A') { say('failover', name + '|' + (Date.now() - begun) / 1000); break; }
    } catch (e) { c = null; }
    await sleep(100);
  }
  process.exit(0);
})().catch(e => { say('broken', e.code + ' ' + e.message); process.exit(1); });
