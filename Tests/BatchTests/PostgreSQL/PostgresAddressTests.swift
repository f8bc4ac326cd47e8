import Testing

@testable import MappingModels

@Suite("Addresses of servers") struct PostgresAddressTests {
  @Test(
    "A password is in no message and no file, however it was written (PG1, PG2)",
    arguments: [
      ("postgres://u:secret@h/db", "postgres://u@h/db"),
      ("postgresql://u@h/db?password=secret&sslmode=a", "postgresql://u@h/db?sslmode=a"),
      ("postgres://u:?se#cret@h/db", "postgres://u@h/db"),
      ("postgres://u:p@secret@h/db?options=b@c", "postgres://u@h/db?options=b@c"),
      ("postgres://u:se/cret@h/db", "postgres://u@h/db"), ("postgres://u:cret@se?cret@h/db", "postgres://u@h/db"),
      ("postgres://h/db?sslpassword=secret", "postgres://h/db"),
      ("postgres://h/db?user=u&sslpassword=a&password=secret", "postgres://h/db?user=u"),
      ("postgres://h/db?password=secret1&password=secret2", "postgres://h/db"),
      ("postgres://h/db?user=u&%70assword=secret", "postgres://h/db?user=u"),
      ("postgres://h/db?PASSWORD=secret", "postgres://h/db"),
      ("postgres://h/db?password=se#cret", "postgres://h/db"),
      ("postgres://h/db?pass=secret&port=1", "postgres://h/db?port=1"),
      ("postgres://u:secret", "postgres://u"), ("postgres://h?password=secret@x", "postgres://x"),
      ("u:secret@h/db", "u@h/db"),
      ("Postgres+x://u:secret@h/db", "Postgres+x://u@h/db"), ("postgres://u:%73ecret@h/db", "postgres://u@h/db"),
      ("postgres://u@h:5432,[::1]:5433/db", "postgres://u@h:5432,[::1]:5433/db"),
      ("postgres:///db?host=/run/x", "postgres:///db?host=/run/x"),
      ("postgres://%2Frun%2Fx/db", "postgres://%2Frun%2Fx/db"), ("db", "db"),
      ("host=h password=se\\ cret dbname=d", "host=h dbname=d"),
      ("host=h password=secret dbname=d", "host=h dbname=d"),
      ("host=h password = 'se cret' dbname=d", "host=h dbname=d"),
      ("host=h password = '' secret y '''", "host=h"), ("host=h password='it''secret' dbname=d", "host=h"),
      ("host=h password='secret", "host=h"), ("host=h password=se cret dbname=d", "host=h"),
      ("password=secret", "the server"),
      ("host=h dbname='a \\' b' secret=cret", "host=h dbname='a \\' b'"),
      ("dbname=postgres://u:secret@h/db port=1", "port=1"),
    ])
  func password(url: String, wanted: String) {
    #expect(PostgresServer(url: url).withoutPassword == wanted)
    #expect(!PostgresServer(url: url).withoutPassword.contains("cret"))
    // What is shown is shown as it is.
    #expect(PostgresServer(url: wanted).withoutPassword == wanted)
  }

  @Test("What others say of an address is freed of all parts of its password, and of nothing else")
  func scrubbed() {
    let address = PostgresAddress("postgres://admin:a%40SEC%20RET:x@h/db?password=other")
    let said = "could not translate \"SEC RET\" at a, other; user admin at h, that was a day"
    #expect(address.scrubbed(said) == "could not translate \"***\" at ***, ***; user admin at h, that was *** day")
    #expect(PostgresAddress("postgres://godwit:godwit@h/db").scrubbed("role \"godwit\"") == "role \"godwit\"")
    #expect(PostgresAddress("host=h password=ab").scrubbed("abc ab") == "abc ***")
  }

  @Test(
    "An address of which libpq would take a part of the password for a host is not given to it, and all others are",
    arguments: [
      ("postgres://u:SEC@RET@h/db", true), ("postgres://u:SEC/RET@h/db", true), ("postgres://u:SEC@R?ET@h/db", true),
      ("postgres://u:SECRET", true), ("host=h password='x", true), ("host=h password=a b", true),
      ("postgres://u:p@h/db", false),
      ("postgres://u!$~#:p%40x@h.example:5/db?sslmode=require&options=a@b", false),
      ("host = h  password = 'a \\' b'  ", false),
      ("postgres://[fe80::1%25eth0]:5432/db", false), ("", false), ("postgres://h/db?unknown=1", false),
      ("postgres://ü@hö/db", false),
    ])
  func ambiguous(url: String, wanted: Bool) { #expect(PostgresAddress(url).isAmbiguous == wanted) }
}
