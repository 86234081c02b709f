/** Reads the line of a name: what follows it, and the cell of a table beside it. */
import type { Span } from './spans.ts'

/** Characters after a name in which its secret begins, and before one in which its line begins. */
const reach = 260
const before = 130
const labelledValue =
  /^[\p{L}\p{M}]{0,20}(?: [\p{L}\p{M}]{2,20}){0,2}[ \t]{1,4}(?:-[ \t]{1,3})?(\d{2,4}(?: \d{2,4}){1,3}|\S{4,150})[ \t]{0,4}$/u
/** The name of a user on the line above. */
export const belowUser =
  /(?:^|\n)[ \t]{0,8}[^\n]{0,20}(?:user|login|benutzer|utilisat|usuario|utente|e-?mail|account|konto|identifi|gebruiker|uzytkownik|логин|имя|kullanici|用户|用戶|账号|ユーザ|사용자|아이디|로그인|المستخدم|משתמש|anvandar|bruger|bruker|kayttaja|uzivatel|felhasznalo|korisnick|utilizator|ten|nama)[^\n]{0,60}\n\s{0,8}$/u

/** Returns the text after a name, with a line joined to the next if it was broken because of its length. */
export function restAfter(text: string, name: Span): string {
  const rest = text.slice(name.end, name.end + reach)
  const end = rest.indexOf('\n')
  const from = Math.max(0, name.start - before)
  const start = from + text.slice(from, name.start).lastIndexOf('\n') + 1
  const length = name.end + end - start
  const isBroken =
    end !== -1 &&
    length > 35 &&
    length < 82 &&
    /[^\s.!?:。।][ \t]?\n\S/.test(text.slice(name.end + end - 2, name.end + end + 2))
  return isBroken ? `${rest.slice(0, end)} ${rest.slice(end + 1)}` : rest
}

/** Returns the last cell of a line that begins with only a short label with a name, and where the line begins. */
export function cellAfter(text: string, name: Span): (Span & { lineStart: number }) | undefined {
  const from = Math.max(0, name.start - 40)
  const start = from + text.slice(from, name.start).lastIndexOf('\n') + 1
  if (!/^[^.,:!?\n]{0,40}$/.test(text.slice(start, name.start))) return undefined
  const line = text.slice(name.end, name.end + 200).split('\n', 1)[0] ?? ''
  const value = labelledValue.exec(line)?.[1]
  if (value === undefined) return undefined
  const at = name.end + line.lastIndexOf(value)
  return { start: at, end: at + value.length, lineStart: start }
}
