import RunSupport

#if PostgreSQL
  import CPostgreSQL
  import Glibc

  /// The functions of libpq, loaded when they are first asked for.
  struct Libpq: @unchecked Sendable {
    // Sendable: pointers to code, which stays loaded.
    let PQconnectdbParams: PQconnectdbParamsFunction
    let PQstatus: PQstatusFunction
    let PQerrorMessage: PQerrorMessageFunction
    let PQfinish: PQfinishFunction
    let PQsocket: PQsocketFunction
    let PQsetNoticeProcessor: PQsetNoticeProcessorFunction
    let PQexec: PQexecFunction
    let PQclear: PQclearFunction
    let PQresultStatus: PQresultStatusFunction
    let PQresultErrorField: PQresultErrorFieldFunction
    let PQntuples: PQntuplesFunction
    let PQnfields: PQnfieldsFunction
    let PQgetisnull: PQgetisnullFunction
    let PQgetvalue: PQgetvalueFunction
    let PQcmdTuples: PQcmdTuplesFunction
    let PQputCopyData: PQputCopyDataFunction
    let PQputCopyEnd: PQputCopyEndFunction
    let PQgetCopyData: PQgetCopyDataFunction
    let PQgetResult: PQgetResultFunction
    let PQfreemem: PQfreememFunction

    /// Throws `refused` if the library is not installed.
    static let loaded = Result<Libpq, BatchError> { () throws(BatchError) in try Libpq() }

    private init() throws(BatchError) {
      // The number is that of its interface, the same since 2006.
      guard let library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL) else {
        throw BatchError(
          .refused, "libpq cannot be loaded: \(dlerror().map { String(cString: $0) } ?? "")",
          hint: "Install it (Debian: libpq5)", effect: .nothingWritten)
      }
      func function<Function>(_ name: String) throws(BatchError) -> Function {
        guard let found = dlsym(library, name) else {
          throw BatchError(.refused, "libpq has no \(name)", hint: "Install a later one", effect: .nothingWritten)
        }
        return unsafeBitCast(found, to: Function.self)
      }
      PQconnectdbParams = try function("PQconnectdbParams")
      PQstatus = try function("PQstatus")
      PQerrorMessage = try function("PQerrorMessage")
      PQfinish = try function("PQfinish")
      PQsocket = try function("PQsocket")
      PQsetNoticeProcessor = try function("PQsetNoticeProcessor")
      PQexec = try function("PQexec")
      PQclear = try function("PQclear")
      PQresultStatus = try function("PQresultStatus")
      PQresultErrorField = try function("PQresultErrorField")
      PQntuples = try function("PQntuples")
      PQnfields = try function("PQnfields")
      PQgetisnull = try function("PQgetisnull")
      PQgetvalue = try function("PQgetvalue")
      PQcmdTuples = try function("PQcmdTuples")
      PQputCopyData = try function("PQputCopyData")
      PQputCopyEnd = try function("PQputCopyEnd")
      PQgetCopyData = try function("PQgetCopyData")
      PQgetResult = try function("PQgetResult")
      PQfreemem = try function("PQfreemem")
    }
  }
#endif
