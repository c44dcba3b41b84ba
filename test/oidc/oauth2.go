// A product on Go's oauth2 package, like Grafana's generic OAuth. It keeps state and verifier in cookies, and finds out by
// trying how to send the secret.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"

	"golang.org/x/oauth2"
)

type session struct {
	who   map[string]interface{}
	token *oauth2.Token
}

var (
	issuer   = os.Getenv("ISSUER")
	origin   = os.Getenv("ORIGIN")
	sessions sync.Map
	config   = oauth2.Config{
		ClientID:     os.Getenv("CLIENT"),
		ClientSecret: os.Getenv("SECRET"),
		RedirectURL:  origin + "/login/generic_oauth",
		Scopes:       []string{"openid", "profile", "email", "groups"},
		Endpoint: oauth2.Endpoint{
			AuthURL:   issuer + "/oauth/authorize",
			TokenURL:  issuer + "/oauth/token",
			AuthStyle: oauth2.AuthStyleAutoDetect,
		},
	}
)

func main() {
	http.HandleFunc("/", home)
	http.HandleFunc("/login", login)
	http.HandleFunc("/login/generic_oauth", callback)
	http.HandleFunc("/logout", logout)
	fmt.Println(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
	os.Exit(1)
}

func random() string {
	bytes := make([]byte, 32)
	rand.Read(bytes)
	return base64.RawURLEncoding.EncodeToString(bytes)
}

func find(request *http.Request) (session, bool) {
	cookie, err := request.Cookie("session")
	if err != nil {
		return session{}, false
	}
	found, ok := sessions.Load(cookie.Value)
	if !ok {
		return session{}, false
	}
	return found.(session), true
}

func keep(writer http.ResponseWriter, name, value string) {
	http.SetCookie(writer, &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func home(writer http.ResponseWriter, request *http.Request) {
	writer.Header().Set("content-type", "text/html; charset=utf-8")
	found, ok := find(request)
	if !ok {
		fmt.Fprint(writer, `<a href="/login">Log in</a>`)
		return
	}
	who, _ := json.Marshal(found.who)
	fmt.Fprintf(writer, `<pre id="who">%s</pre><a href="/logout">Log out</a>`, html.EscapeString(string(who)))
}

func login(writer http.ResponseWriter, request *http.Request) {
	state, verifier := random(), random()
	digest := sha256.Sum256([]byte(verifier))
	keep(writer, "state", state)
	keep(writer, "verifier", verifier)
	http.Redirect(writer, request, config.AuthCodeURL(state,
		oauth2.AccessTypeOnline,
		oauth2.SetAuthURLParam("code_challenge", base64.RawURLEncoding.EncodeToString(digest[:])),
		oauth2.SetAuthURLParam("code_challenge_method", "S256"),
	), http.StatusFound)
}

func callback(writer http.ResponseWriter, request *http.Request) {
	state, err := request.Cookie("state")
	verifier, noVerifier := request.Cookie("verifier")
	if err != nil || noVerifier != nil || state.Value != request.FormValue("state") {
		http.Error(writer, "state", http.StatusUnauthorized)
		return
	}
	who, token, err := exchange(request.FormValue("code"), verifier.Value)
	if err != nil {
		http.Error(writer, err.Error(), http.StatusUnauthorized)
		return
	}
	id := random()
	sessions.Store(id, session{who, token})
	keep(writer, "session", id)
	http.Redirect(writer, request, "/", http.StatusFound)
}

func exchange(code, verifier string) (map[string]interface{}, *oauth2.Token, error) {
	ctx := context.Background()
	token, err := config.Exchange(ctx, code, oauth2.SetAuthURLParam("code_verifier", verifier))
	if err != nil {
		return nil, nil, err
	}
	parts := strings.Split(token.Extra("id_token").(string), ".")
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, nil, err
	}
	var who map[string]interface{}
	if err := json.Unmarshal(claims, &who); err != nil {
		return nil, nil, err
	}
	// Claims that are not in the ID token come from userinfo.
	answer, err := config.Client(ctx, token).Get(issuer + "/oauth/userinfo")
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("userinfo: %s", answer.Status)
	}
	return who, token, json.NewDecoder(answer.Body).Decode(&who)
}

// Logs out as Grafana does if its signout_redirect_url has a post_logout_redirect_uri.
func logout(writer http.ResponseWriter, request *http.Request) {
	found, _ := find(request)
	cookie, _ := request.Cookie("session")
	sessions.Delete(cookie.Value)
	query := url.Values{"post_logout_redirect_uri": {origin + "/"}}
	if found.token.Valid() {
		query.Set("id_token_hint", found.token.Extra("id_token").(string))
	}
	http.Redirect(writer, request, issuer+"/oauth/logout?"+query.Encode(), http.StatusFound)
}
