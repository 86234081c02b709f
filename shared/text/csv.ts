/** Cells of CSV (RFC 4180) that a spreadsheet reads as they are. */

/**
 * Quotes one cell. A text that a spreadsheet would run as a formula gets an apostrophe in front (OWASP,
 * CSV injection), because memos and aliases are written by strangers.
 */
export function csvCell(text: string, isNumber = false): string {
  const isFormula = !isNumber && /^[\s"']*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text)
  const inert = isFormula ? `'${text}` : text
  return `"${inert.replaceAll('"', '""')}"`
}
