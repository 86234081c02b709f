/**
 * Client documents as their vendors published them in September 2026. They stand in where a document cannot be
 * fetched, because some vendors' hosts refuse servers of data centers, and for nothing else: a document that
 * arrives is the one that counts.
 */
import type { ClientMetadata } from './client-metadata.ts'

const loopback = ['http://127.0.0.1/callback', 'http://localhost/callback']

/** Stored metadata by the address of the document. */
export const publishedDocuments: ReadonlyMap<string, ClientMetadata> = new Map([
  published('https://claude.ai/oauth/claude-code-client-metadata', 'Claude Code', loopback),
  published('https://claude.ai/oauth/mcp-oauth-client-metadata', 'Claude', [
    'https://claude.ai/api/mcp/auth_callback',
  ]),
  published('https://chatgpt.com/oauth/codex/client.json', 'Codex', loopback),
  published('https://opencode.ai/oauth/opencode/client.json', 'opencode', loopback),
  published('https://vscode.dev/oauth/client-metadata.json', 'Visual Studio Code', [
    'http://127.0.0.1:33418/',
    'https://vscode.dev/redirect',
  ]),
])

function published(id: string, name: string, redirectUris: string[]): [string, ClientMetadata] {
  return [id, { name, redirectUris, refreshes: true, isBound: false, usesDeviceCodes: false }]
}
