package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/attrs"
)

const maxUsers = 1_000_000

// userFile puts the users of a CSV file into a billing.Memory.
type userFile struct {
	name   string
	memory *billing.Memory
	log    *zap.Logger

	users map[string]billing.Grant // what is in memory
	stamp string                   // of the file that was read last, right or wrong
}

// load reads the file. After an error the users are as they were.
func (u *userFile) load() error {
	u.stamp = stampOf(u.name) // first, so that a change while it is read is noticed
	f, err := os.Open(u.name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	users, err := readUsers(f)
	if err != nil {
		return fmt.Errorf("%s: %w", u.name, err)
	}
	for name, g := range users {
		u.memory.Put(name, g)
	}
	for name := range u.users {
		if _, still := users[name]; !still {
			u.memory.Delete(name)
		}
	}
	u.users = users
	u.log.Info("read the users", zap.String("file", u.name), zap.Int("users", len(users)))
	return nil
}

// watch loads the file again when it has changed or hup says so, until ctx ends.
func (u *userFile) watch(ctx context.Context, hup <-chan os.Signal) {
	ticker := time.NewTicker(2 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
		case <-ticker.C:
			if stampOf(u.name) == u.stamp {
				continue
			}
		}
		if err := u.load(); err != nil {
			u.log.Warn("the users stay as they were", zap.Error(err))
		}
	}
}

// stampOf is another one when the file has changed.
func stampOf(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.ModTime(), info.Size())
}

// readUsers reads CSV. An error names line and column and never what stands there, which may be
// a password.
func readUsers(from io.Reader) (map[string]billing.Grant, error) {
	r := csv.NewReader(from)
	header, err := r.Read()
	if err != nil || len(header) < 2 || strings.TrimPrefix(header[0], "\ufeff") != "name" || header[1] != "password" {
		return nil, errors.New("line 1: the names of the columns must be there, name and password first")
	}
	users := make(map[string]billing.Grant)
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return users, nil
		} else if err != nil {
			return nil, err // with the line
		}
		line, _ := r.FieldPos(0)
		name := fields[0]
		if _, twice := users[name]; twice || name == "" || len(users) == maxUsers {
			return nil, fmt.Errorf("line %d: column name: it is empty, or stands above as well, or is that of more than %d users", line, maxUsers)
		}
		var g billing.Grant
		for i, field := range fields[1:] {
			if err := set(&g, header[i+1], field); err != nil {
				return nil, fmt.Errorf("line %d: column %s: %w", line, header[i+1], err)
			}
		}
		users[name] = g
	}
}

// set puts a field into g.
func set(g *billing.Grant, column, field string) (err error) {
	switch {
	case column == "password":
		g.Password, err = billing.ParsePasswordWithHeader(field)
		return err
	case column == "Simultaneous-Use" && field != "":
		if g.SimultaneousUse, err = strconv.Atoi(field); err != nil || g.SimultaneousUse < 1 {
			return errors.New("must be a number from 1 on")
		}
	case column != "Simultaneous-Use":
		attribute, err := attrs.Find(column)
		if err != nil || field == "" {
			return err
		}
		return attribute.Add(g, field)
	}
	return nil
}
