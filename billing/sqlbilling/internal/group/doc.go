// Package group commits what many callers want to write in groups: what back ends
// on SQL share that have accounting to make durable.
//
//	Submit ──► pending ──► scribe ──► one transaction ──► every caller of the group
//	           bounded     1 a connection that writes; an item that is refused is
//	                       found by halving, and fails alone
package group
