package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"
	"time"
)

const (
	maxAttempts = 4
	maxDelay    = 30 * time.Second
)

// APIError is an error of the API. Code is for programs, Message for people, Issues names the invalid fields.
type APIError struct {
	Status  int
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Issues  []Issue `json:"issues"`
}

// Issue says what is wrong with one field.
type Issue struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

func (e *APIError) Error() string {
	return fmt.Sprintf("%s (%d): %s", e.Code, e.Status, e.Message)
}

// Client calls the operations of /docs. Token is an API key (lnx_...) or a session token (lns_...).
type Client struct {
	URL, Token string
	HTTP       *http.Client
}

// Call sends input as JSON, unless it is nil, and reads the response into output, unless that is nil.
func (c *Client) Call(method, path string, input, output any) error {
	if input == nil {
		return c.send(method, path, "", nil, output)
	}
	body, err := json.Marshal(input)
	if err != nil {
		return err
	}
	return c.send(method, path, "application/json", body, output)
}

// Upload sends a PDF as the part "file" of a form.
func (c *Client) Upload(path, name string, content []byte, output any) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {fmt.Sprintf(`form-data; name="file"; filename=%q`, name)},
		"Content-Type":        {"application/pdf"},
	})
	if err != nil {
		return err
	}
	if _, err := part.Write(content); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	return c.send(http.MethodPost, path, form.FormDataContentType(), body.Bytes(), output)
}

// send repeats a call whose response is lost, or that the service asks to repeat. An idempotency key makes the service
// carry out a write only once.
func (c *Client) send(method, path, contentType string, body []byte, output any) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		retryAfter, err := c.attempt(method, path, contentType, key, body, output)
		if err == nil || retryAfter < 0 || attempt == maxAttempts {
			return err
		}
		delay := time.Second << (attempt - 1)
		if retryAfter > 0 {
			delay = retryAfter
		}
		if delay > maxDelay {
			delay = maxDelay
		}
		time.Sleep(delay)
	}
}

// attempt sends a request once. A negative delay means that repeating it is no use, 0 that the service asks for none.
func (c *Client) attempt(method, path, contentType, key string, body []byte, output any) (time.Duration, error) {
	request, err := http.NewRequest(method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	if method != http.MethodGet {
		request.Header.Set("Idempotency-Key", key)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	if response.StatusCode < 300 {
		if output == nil {
			return -1, nil
		}
		return -1, json.Unmarshal(answer, output)
	}
	failure := &APIError{Code: "UNKNOWN", Message: response.Status}
	// A proxy in front of the service may send another body.
	_ = json.Unmarshal(answer, failure)
	failure.Status = response.StatusCode
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return time.Duration(seconds) * time.Second, failure
	}
	return -1, failure
}

func newKey() (string, error) {
	bytes := make([]byte, 16)
	_, err := rand.Read(bytes)
	return hex.EncodeToString(bytes), err
}
