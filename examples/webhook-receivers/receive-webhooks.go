// WEBHOOK_SECRET=whsec_... go run receive-webhooks.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const tolerance = 5 * time.Minute
const maxBytes = 1024 * 1024

func sign(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// X-Webhook-Signature and, for 24 hours after a rotation, X-Webhook-Signature-Previous with the old secret.
func isSigned(secret string, header http.Header, body string) bool {
	expected := []byte(hex.EncodeToString(sign([]byte(secret), body)))
	return hmac.Equal(expected, []byte(header.Get("X-Webhook-Signature"))) ||
		hmac.Equal(expected, []byte(header.Get("X-Webhook-Signature-Previous")))
}

// Standard Webhooks: signs id, time and body. The key is the base64-decoded part of the secret after whsec_.
func isSignedByStandard(secret string, header http.Header, body string) bool {
	id, sentAt := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > tolerance.Seconds() {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	expected := "v1," + base64.StdEncoding.EncodeToString(sign(key, id+"."+sentAt+"."+body))
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(expected), []byte(signature)) {
			return true
		}
	}
	return false
}

var handled sync.Map // In production, use a database table.

func receive(secret string) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		if request.ContentLength > maxBytes {
			response.Header().Set("Connection", "close")
			response.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		bytes, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxBytes))
		if err != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		body := string(bytes)
		verify := isSigned
		if request.URL.Path == "/standard" {
			verify = isSignedByStandard
		}
		if !verify(secret, request.Header, body) {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		// In production, write the message to a queue first: after a 2xx response it is not sent again.
		response.WriteHeader(http.StatusNoContent)
		if _, isKnown := handled.LoadOrStore(request.Header.Get("webhook-id"), true); isKnown {
			return
		}
		var message struct {
			Event     string
			Timestamp string
			Data      json.RawMessage
		}
		if err := json.Unmarshal(bytes, &message); err != nil {
			log.Println(err)
			return
		}
		fmt.Println(message.Event, message.Timestamp, string(message.Data))
	}
}

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if !strings.HasPrefix(secret, "whsec_") {
		fmt.Fprintln(os.Stderr, "Set WEBHOOK_SECRET to the secret of the webhook: it begins with whsec_")
		os.Exit(1)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "4000"
	}
	fmt.Println("Listening on port " + port)
	log.Fatal(http.ListenAndServe(":"+port, receive(secret)))
}
