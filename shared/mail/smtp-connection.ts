/**
 * Sends lines and reads replies on an SMTP connection. A connection that closes or sends an endless
 * reply is an error at once. The caller must close a connection that stays silent.
 */

/** A TCP connection as the platform opens it. */
export type Socket = {
  readable: ReadableStream<Uint8Array>
  writable: WritableStream<Uint8Array>
  close(): Promise<unknown>
}
/** Opens a connection. With `tls` it is encrypted from the first byte. */
export type Connect = (hostname: string, port: number, tls: boolean) => Socket

/** The three-digit code, and the whole text of the reply. */
export type Reply = { code: number; text: string }
/** Sends a line, if there is one, and reads the reply to it. */
export type SmtpExchange = (line?: string) => Promise<Reply>

/** Maximum length of a reply, which is a few lines of 512 octets each (RFC 5321 section 4.5.3.1.5). */
const replyCharactersMax = 16 * 1024

/** Returns a function that talks to the server at the other end. */
export function openExchange({ readable, writable }: Socket): SmtpExchange {
  const reader = readable.getReader()
  const writer = writable.getWriter()
  const decoder = new TextDecoder()
  return async (line) => {
    if (line !== undefined) await writer.write(new TextEncoder().encode(`${line}\r\n`))
    for (let text = ''; text.length < replyCharactersMax; ) {
      const { value, done } = await reader.read()
      if (done) throw new Error('the mail server closed the connection')
      text += decoder.decode(value, { stream: true })
      // The last line of a reply has a space after its code (RFC 5321 section 4.2.1).
      const [, code] = /(?:^|\n)(\d{3})(?: [^\n]*)?\r?\n$/.exec(text) ?? []
      if (code !== undefined) return { code: Number(code), text: text.trim() }
    }
    throw new Error('the mail server answers too much')
  }
}
