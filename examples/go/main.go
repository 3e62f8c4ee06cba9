// Creates a room, uploads files to the library, reads them page by page, and handles an error.
//
//	. .data/demo.env && (cd examples/go && go run .)
package main

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

type item struct {
	ID   int    `json:"id"`
	Size int    `json:"size"`
	Name string `json:"name"`
}

type page struct {
	Items      []item `json:"items"`
	Total      int    `json:"total"`
	NextCursor string `json:"next_cursor"`
}

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	workspace, err := strconv.Atoi(os.Getenv("LYNXROOM_WORKSPACE"))
	api := &Client{
		URL:   os.Getenv("LYNXROOM_URL"),
		Token: os.Getenv("LYNXROOM_TOKEN"),
		HTTP:  &http.Client{Timeout: time.Minute},
	}
	if err != nil || api.URL == "" || api.Token == "" {
		return errors.New("load the demo account first: . .data/demo.env")
	}
	path := fmt.Sprintf("/api/workspaces/%d", workspace)

	var created struct {
		Room struct {
			Name string `json:"name"`
		} `json:"room"`
	}
	roomFields := map[string]any{"workspace_id": workspace}
	if err := api.Call(http.MethodPost, "/api/dashboard/rooms", roomFields, &created); err != nil {
		return err
	}
	room := created.Room.Name
	fmt.Println("Created a room")

	// A name of its own, so that the example finds and deletes only its own items.
	prefix := "Go " + room
	content, err := os.ReadFile("../sample.pdf")
	if err != nil {
		return err
	}
	for number := 1; number <= 3; number++ {
		var uploaded struct {
			Item item `json:"item"`
		}
		name := fmt.Sprintf("%s %d.pdf", prefix, number)
		if err := api.Upload(path+"/library", name, content, &uploaded); err != nil {
			return err
		}
		fmt.Printf("Uploaded file %d: %d bytes\n", number, uploaded.Item.Size)
	}

	items, err := listItems(api, path, prefix)
	if err != nil {
		return err
	}

	roomFields["name"] = room
	printRefusal(api.Call(http.MethodPost, "/api/dashboard/rooms", roomFields, nil))
	printRefusal(api.Call(http.MethodPost, path+"/labels", map[string]string{"name": ""}, nil))

	for _, each := range items {
		if err := api.Call(http.MethodDelete, fmt.Sprintf("%s/library/%d", path, each.ID), nil, nil); err != nil {
			return err
		}
	}
	if err := api.Call(http.MethodDelete, "/api/dashboard/rooms/"+room, nil, nil); err != nil {
		return err
	}
	fmt.Printf("Deleted the room and %d files\n", len(items))
	return nil
}

// listItems reads all pages of the items whose name contains the text.
func listItems(api *Client, path, text string) ([]item, error) {
	var items []item
	query := url.Values{"search": {text}, "sort": {"name"}, "order": {"asc"}, "limit": {"2"}}
	for {
		var part page
		if err := api.Call(http.MethodGet, path+"/library?"+query.Encode(), nil, &part); err != nil {
			return nil, err
		}
		items = append(items, part.Items...)
		fmt.Printf("Read a page: %d of %d items\n", len(part.Items), part.Total)
		if part.NextCursor == "" {
			return items, nil
		}
		query.Set("cursor", part.NextCursor)
	}
}

// printRefusal prints an error of the API, and the fields that it names.
func printRefusal(err error) {
	var refusal *APIError
	if !errors.As(err, &refusal) {
		fmt.Println("Not refused:", err)
		return
	}
	fmt.Printf("Refused: %s (%d)", refusal.Code, refusal.Status)
	for index, issue := range refusal.Issues {
		separator := ", "
		if index == 0 {
			separator = ": "
		}
		fmt.Print(separator, issue.Path)
	}
	fmt.Println()
}
