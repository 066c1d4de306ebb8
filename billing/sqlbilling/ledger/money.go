package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/radpool/radpool/billing/rating"
	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

// ErrUnknownSubscriber is returned by Deposit for a name that is no subscriber's.
var ErrUnknownSubscriber = errors.New("ledger: there is no such subscriber")

// Deposit books a payment, or with a negative amount takes one back: an entry in the
// ledger and the balance, in one transaction. reference tells the payment from others
// of the subscriber, 1 to 100 octets of text with no blank at its end, which some databases
// do not tell from none: to book it again changes nothing and is no error, unless the
// amount is another. So a caller that does not know whether a
// payment was booked books it again.
func (b *Backend) Deposit(ctx context.Context, userName, reference string, amount rating.Money, at time.Time) error {
	switch {
	case !possible(userName):
		return ErrUnknownSubscriber
	case !possible(reference) || len(reference) > 100 || strings.HasSuffix(reference, " "):
		return errors.New("ledger: the reference of a payment must have 1 to 100 octets of text, and no blank at its end")
	case amount > rating.MaxMoney || amount < -rating.MaxMoney:
		return fmt.Errorf("ledger: the amount is %v, must be -%v to %v", amount, rating.MaxMoney, rating.MaxMoney)
	}
	err := b.change(ctx, func() error {
		return b.deposit(ctx, userName, "payment:"+reference, amount, at)
	}, dialect.Lost, dialect.Conflict)
	if err != nil && !errors.Is(err, ErrUnknownSubscriber) {
		return fmt.Errorf("ledger: %s: %w", b.db.Label, err)
	}
	return err
}

func (b *Backend) deposit(ctx context.Context, userName, reference string, amount rating.Money, at time.Time) error {
	tx, err := b.db.Write.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var there int
	if err := tx.GetContext(ctx, &there, tx.Rebind("SELECT COUNT(*) FROM radpool_subscriber WHERE username = ?"), userName); err != nil {
		return err
	}
	if there == 0 {
		return ErrUnknownSubscriber
	}
	var booked []int64
	if err := tx.SelectContext(ctx, &booked, tx.Rebind("SELECT amount FROM radpool_ledger WHERE username = ? AND reference = ?"), userName, reference); err != nil {
		return err
	}
	if len(booked) > 0 {
		if rating.Money(booked[0]) != amount {
			return fmt.Errorf("the payment %q is booked already, with the amount %v", reference, rating.Money(booked[0]))
		}
		return nil
	}
	if _, err := tx.ExecContext(ctx, tx.Rebind("INSERT INTO radpool_ledger (username, reference, at, amount) VALUES (?, ?, ?, ?)"),
		userName, reference, at.Unix(), int64(amount)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, tx.Rebind("INSERT INTO radpool_balance (username, balance) VALUES (?, ?)"+
		b.f.upsert("radpool_balance", "username", "+balance")), userName, int64(amount)); err != nil {
		return err
	}
	return tx.Commit()
}
