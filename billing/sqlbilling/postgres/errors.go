package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// classify goes by SQLSTATE.
func classify(err error) dialect.Class {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		switch {
		case lost(err):
			return dialect.Lost
		case connecting(err) || dialect.Unreachable(err):
			return dialect.Away
		}
		return dialect.Broken
	}
	if connecting(err) {
		switch e.Code {
		case "53300", "57P01", "57P02", "57P03": // too many connections; the server goes down, or is starting
			return dialect.Away
		}
		return dialect.Broken
	}
	switch e.Code {
	case "42703", "42P01", "42804", "42883": // no such column, table or function; another type
		return dialect.Changed
	case "40001", "40P01", "55P03": // serialization_failure, deadlock_detected, lock_not_available
		return dialect.Busy
	case "23505": // unique_violation
		return dialect.Conflict
	case "21000", "P0001": // cardinality_violation, raise_exception of a trigger
		return dialect.BadRow
	}
	switch e.Code[:min(2, len(e.Code))] {
	case "22", "23", "44": // data exceptions, constraints, WITH CHECK OPTION
		return dialect.BadRow
	}
	if lost(err) {
		return dialect.Lost
	}
	return dialect.Broken
}

// lacksCharacter reports whether a database that is not in UTF-8 lacks a character of a
// parameter. Any other error in what a statement computes, such as in a view of an
// operator's, says nothing of who was asked for.
func lacksCharacter(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "22P05" || e.Code == "22021") // untranslatable_character, character_not_in_repertoire
}

// connecting reports whether no connection could be made.
func connecting(err error) bool {
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok
}

// lost reports whether a connection went away that was there, or does not know its
// prepared statements any more.
func lost(err error) bool {
	if connecting(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "57P01", "57P02", "57P03", "57P05": // the server goes down, or ended an idle session
			return true
		}
		return stale(err) || len(e.Code) == 5 && e.Code[:2] == "08"
	}
	_, network := errors.AsType[*net.OpError](err)
	return network || pgconn.SafeToRetry(err) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// A startError is an error of the beginning in one line: pgx gives one to each
// address that it tried.
type startError struct{ error }

func (e startError) Error() string {
	return strings.Join(strings.FieldsFunc(e.error.Error(), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

func (e startError) Unwrap() error { return e.error }

// withoutDSN is an error of a DSN that cannot be parsed, without the DSN: pgx does not
// find the password in each of them.
func withoutDSN(err error) error {
	e, ok := errors.AsType[*pgconn.ParseConfigError](err)
	if !ok {
		return err
	}
	e.ConnString = ""
	return errors.New("the DSN cannot be parsed: " + strings.TrimPrefix(e.Error(), "cannot parse ``: "))
}
