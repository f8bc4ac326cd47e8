#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

// libpq brings a dozen libraries of its own, which take memory from every run that has no use for them. So it is loaded when it is asked for,
// and nothing is linked: these are the types of its functions, as its header has them.
#define GODWIT_FUNCTION(name) typedef __typeof__(&name) name##Function
GODWIT_FUNCTION(PQconnectdbParams);
GODWIT_FUNCTION(PQstatus);
GODWIT_FUNCTION(PQerrorMessage);
GODWIT_FUNCTION(PQfinish);
GODWIT_FUNCTION(PQsocket);
GODWIT_FUNCTION(PQsetNoticeProcessor);
GODWIT_FUNCTION(PQexec);
GODWIT_FUNCTION(PQclear);
GODWIT_FUNCTION(PQresultStatus);
GODWIT_FUNCTION(PQresultErrorField);
GODWIT_FUNCTION(PQntuples);
GODWIT_FUNCTION(PQnfields);
GODWIT_FUNCTION(PQgetisnull);
GODWIT_FUNCTION(PQgetvalue);
GODWIT_FUNCTION(PQcmdTuples);
GODWIT_FUNCTION(PQputCopyData);
GODWIT_FUNCTION(PQputCopyEnd);
GODWIT_FUNCTION(PQgetCopyData);
GODWIT_FUNCTION(PQgetResult);
GODWIT_FUNCTION(PQfreemem);
#undef GODWIT_FUNCTION
