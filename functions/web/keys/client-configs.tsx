/** Configurations with which agents' programs reach the account by MCP. */

type ClientConfig = {
  name: string
  /** Says where the text belongs. */
  where: string
  text: string
}

/**
 * Returns the configuration of each program for this base URL. With a key the program sends it with each request;
 * without one it has its user sign in (OAuth), and stores no key.
 */
export function clientConfigs(baseUrl: string, apiKey?: string): ClientConfig[] {
  const url = `${baseUrl}/mcp`
  const authorization = `Bearer ${apiKey ?? ''}`
  const headers = apiKey === undefined ? {} : { headers: { Authorization: authorization } }
  const json = (value: object) => JSON.stringify(value, undefined, 2)
  const codexHeaders =
    apiKey === undefined ? '' : `\nhttp_headers = { "Authorization" = "${authorization}" }`
  const claudeHeader = apiKey === undefined ? '' : ` --header "Authorization: ${authorization}"`
  return [
    {
      name: 'Claude Code',
      where: 'Run this in a terminal:',
      text: `claude mcp add --transport http account ${url}${claudeHeader}`,
    },
    ...(apiKey === undefined
      ? [
          {
            name: 'Claude',
            where: 'Under Settings, Connectors, add a custom connector with this address:',
            text: url,
          },
        ]
      : []),
    {
      name: 'Cursor',
      where: 'Put this into ~/.cursor/mcp.json:',
      text: json({ mcpServers: { account: { url, ...headers } } }),
    },
    {
      name: 'VS Code',
      where: 'Put this into .vscode/mcp.json:',
      text: json({ servers: { account: { type: 'http', url, ...headers } } }),
    },
    {
      name: 'Codex',
      where: `Put this into ~/.codex/config.toml${apiKey === undefined ? ', then run codex mcp login account:' : ':'}`,
      text: `[mcp_servers.account]\nurl = "${url}"${codexHeaders}`,
    },
    {
      name: 'Gemini CLI',
      where: 'Put this into ~/.gemini/settings.json:',
      text: json({ mcpServers: { account: { httpUrl: url, ...headers } } }),
    },
  ]
}

/** Shows the configurations, one unfolded at a time. */
export function ClientConfigs({ configs }: { configs: readonly ClientConfig[] }) {
  return (
    <>
      {configs.map(({ name, where, text }, at) => (
        <details name="client" open={at === 0}>
          <summary>{name}</summary>
          <p class="hint">{where}</p>
          <Once text={text} />
        </details>
      ))}
    </>
  )
}

/** Shows a text that is to be copied now. */
export function Once({ text }: { text: string }) {
  return (
    <div>
      <pre data-copy={text} data-once>
        {text}
      </pre>
    </div>
  )
}
