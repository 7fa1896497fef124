// Package markdown writes documents in GitHub Flavored Markdown that can be pasted into issues, merge
// requests, tickets and chats, from text that nobody vouches for.
//
// A [Document] is made of blocks: headings, paragraphs, lists, tables and commands. Their text is [Inline],
// which [Text], [Code] and [Strong] make. Of a text, every word that is not simply a word or a number becomes
// code. In code nothing has a meaning: there are no links, images, mentions of people, references to issues,
// emoji, HTML or formulas, in no dialect. So the structure of a document does not depend on what it says,
// nothing needs a backslash, and names stand out for readers.
//
// Where a place shows Markdown as it is, the result can be read as plain text: columns of tables are aligned.
package markdown
