// Package differential holds no code but a test: FreeRADIUS's rlm_sql and this
// module's sqlbilling answer the same requests from the same database, and every
// difference between their answers that is not listed with its reason fails. It is
// what says that a FreeRADIUS database goes on working as it stands.
//
// The test starts FreeRADIUS as Debian packages it, with Debian's queries and
// schema, and wants a MariaDB that RADPOOL_TEST_MYSQL names; .ci/databases starts
// one. The users stand in the files users_*_test.go, one a theme, and the differences
// in differences_test.go. To find out how FreeRADIUS reads a row, add a user with it
// and run
//
//	eval "$(.ci/databases)"; go test ./internal/differential/; .ci/databases down
//
// Attributes that are encrypted on the wire (Tunnel-Password) are compared as they are
// decrypted. Not compared is the text of an Access-Reject, but for some users: who does
// not know the password gets the Reply-Message of the Access-Accept from FreeRADIUS, and
// from radpool one that is the same for everybody.
package differential
