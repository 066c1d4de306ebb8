// Package acct is what accounting records say of sessions: what all back ends on SQL
// store, whatever their schema.
package acct
