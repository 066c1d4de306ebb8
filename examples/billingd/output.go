package main

import (
	"fmt"
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/trace"
)

// Formats of the log.
const (
	logConsole = "console" // for people
	logJSON    = "json"    // an object a line, for programs
)

func newLogger(w zapcore.WriteSyncer, level zapcore.Level, format string) *zap.Logger {
	cfg := zap.NewProductionEncoderConfig()
	cfg.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewConsoleEncoder(cfg)
	if format == logJSON {
		encoder = zapcore.NewJSONEncoder(cfg)
	}
	return zap.New(zapcore.NewCore(encoder, w, level))
}

// outputs returns where to print, and the log. With -X both are the standard output, as of
// radiusd, and no line of one is in the midst of the other's.
func (o *options) outputs(stdout, stderr io.Writer) (io.Writer, *zap.Logger) {
	if !o.debug {
		return stdout, newLogger(zapcore.Lock(zapcore.AddSync(stderr)), o.logLevel, o.logFormat)
	}
	level := zapcore.DebugLevel
	if o.given["log-level"] {
		level = o.logLevel
	}
	both := zapcore.Lock(zapcore.AddSync(stdout))
	return both, newLogger(both, level, o.logFormat)
}

// trace has the server print what it does, if that is wanted.
func (o *options) trace(server *radpool.Server, w io.Writer) error {
	if !o.debug {
		return nil
	}
	words, file, err := o.dictionaryFile()
	if err != nil {
		return err
	}
	tracer, err := trace.New(w, trace.Options{Dictionary: words, DictionaryFile: file})
	if err != nil {
		return fmt.Errorf("-dictionary: %w", err)
	}
	server.Handler = tracer.Middleware(server.Handler)
	server.Hooks.Drop = tracer.Drop
	return nil
}
