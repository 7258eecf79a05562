//! What run.py asks of a driver, by tiberius.
use std::env::var;
use std::time::{Duration, Instant};
use tiberius::numeric::Decimal;
use tiberius::time::chrono::{NaiveDate, NaiveDateTime};
use tiberius::{AuthMethod, Client, Config, EncryptionLevel, Uuid};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

type Session = Client<Compat<TcpStream>>;
type Failed = Box<dyn std::error::Error>;

fn say(check: &str, value: impl std::fmt::Display) {
    println!("{check}\t{value}");
}

async fn open(port: &str) -> Result<Session, Failed> {
    let mut config = Config::new();
    config.host(var("HOST")?);
    config.port(port.parse()?);
    config.database("Sales");
    config.trust_cert();
    config.authentication(AuthMethod::sql_server("sa", var("PASSWORD")?));
    config.encryption(match var("TLS")?.as_str() {
        "all" => EncryptionLevel::Required,
        "login" => EncryptionLevel::Off,
        _ => EncryptionLevel::NotSupported,
    });
    let wire = TcpStream::connect(config.get_addr()).await?;
    Ok(Client::connect(config, wire.compat_write()).await?)
}

async fn name(session: &mut Session) -> Result<String, Failed> {
    let row = session.simple_query("SELECT @@SERVERNAME").await?.into_row().await?.ok_or("no row")?;
    Ok(row.get::<&str, _>(0).ok_or("no name")?.to_string())
}

/// To the millisecond: `datetime` counts in three hundredths of a second.
fn rounded(moment: NaiveDateTime) -> String {
    (moment + chrono::Duration::microseconds(500)).format("%F %T%.3f").to_string()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    let mut session = open(&var("PORT")?).await?;
    say("login", name(&mut session).await?);

    let row = session.simple_query(var("VALUES")?).await?.into_row().await?.ok_or("no row")?;
    let mut out: Vec<String> = vec![
        (row.get::<bool, _>(0).unwrap() as u8).to_string(),
        row.get::<u8, _>(1).unwrap().to_string(),
        row.get::<i16, _>(2).unwrap().to_string(),
        row.get::<i32, _>(3).unwrap().to_string(),
        row.get::<i64, _>(4).unwrap().to_string(),
        row.get::<Decimal, _>(5).unwrap().to_string(),
        row.get::<Decimal, _>(6).unwrap().to_string(),
        row.get::<f64, _>(7).unwrap().to_string(),
        row.get::<f64, _>(8).unwrap().to_string(),
        row.get::<f32, _>(9).unwrap().to_string(),
        row.get::<NaiveDate, _>(10).unwrap().to_string(),
    ];
    out.extend([11, 12].map(|place| rounded(row.get(place).unwrap())));
    out.extend([13, 14, 15].map(|place| row.get::<&str, _>(place).unwrap().to_string()));
    out.push(row.get::<&[u8], _>(16).unwrap().iter().map(|byte| format!("{byte:02X}")).collect());
    out.push(row.get::<Uuid, _>(17).unwrap().to_string());
    out.push(row.get::<i32, _>(18).map_or("NULL".to_string(), |value| value.to_string()));
    out.push(row.get::<&str, _>(19).unwrap_or("NULL").to_string());
    say("values", out.join("|"));

    let rows = session.simple_query("SELECT n FROM big ORDER BY n").await?.into_first_result().await?;
    let ordered = rows.iter().zip(1..).all(|(row, n)| row.get::<i32, _>(0) == Some(n));
    say("rows", format!("{}|{}", rows.len(), ordered));

    let refused = match session.simple_query("\nEXEC bad").await {
        Ok(told) => told.into_results().await.err(),
        Err(problem) => Some(problem),
    };
    if let Some(tiberius::error::Error::Server(told)) = refused {
        let (number, class, state, line) = (told.code(), told.class(), told.state(), told.line());
        say("error", format!("{number}|{class}|{state}|{}|{line}|{}", told.procedure(), told.message()));
    }

    let row = session.query("SELECT @P1 + 1, @P2, @P3", &[&41i32, &"ü'x", &Option::<i32>::None]).await?;
    let row = row.into_row().await?.ok_or("no row")?;
    let third = row.get::<i32, _>(2).map_or("NULL".to_string(), |value| value.to_string());
    say("parameters", format!("{}|{}|{third}", row.get::<i32, _>(0).unwrap(), row.get::<&str, _>(1).unwrap()));

    for text in ["BEGIN TRANSACTION", "INSERT t VALUES (2)", "ROLLBACK TRANSACTION"] {
        session.simple_query(text).await?.into_results().await?;
    }
    let row = session.simple_query("SELECT COUNT(*), @@TRANCOUNT FROM t").await?.into_row().await?.ok_or("no row")?;
    say("transaction", format!("{}|{}", row.get::<i32, _>(0).unwrap(), row.get::<i32, _>(1).unwrap()));
    say("ready", "");

    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    let (since, ports) = (Instant::now(), [var("PORT")?, var("OTHER")?]);
    let mut open_one = Some(session);
    for place in 0.. {
        if open_one.is_none() {
            open_one = open(&ports[place % 2]).await.ok();
        }
        if let Some(session) = open_one.as_mut() {
            match name(session).await {
                Ok(name) if name != "SERVER_A" => {
                    say("failover", format!("{name}|{:.2}", since.elapsed().as_secs_f64()));
                    return Ok(());
                }
                Ok(_) => {}
                Err(_) => open_one = None,
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}
