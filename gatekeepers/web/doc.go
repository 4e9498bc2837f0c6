// Package web is the gatekeeper of the web: it fetches pages and gives them as Markdown.
//
// A binding is the whole web, web:///, or one origin of it, web:///#origin=https://docs.example.com. The unit is the
// origin; what is fetched without credentials is public. There is one operation, and it reads.
//
// A fetch is asked of the egress policy by its host, so a redirect to another host is not followed: it is the answer, and
// fetching that is a call of its own. What may be reached at all is the client's to say (kit.HTTP).
//
// Not guaranteed: that a page means well. Whatever is fetched is a stranger's words.
package web
