/**
 * The name of a browser and its system, of lists of ours: a browser or a program may call itself
 * anything, and none of its own words stands in a mail.
 */

const browsers: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b((Headless)?Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: [RegExp, string][] = [
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** Such as "Firefox on Linux". What a browser says of itself proves nothing. */
export function browserName(userAgent: string): string {
  const named = (list: [RegExp, string][]) => list.find(([form]) => form.test(userAgent))?.[1]
  const [browser, system] = [named(browsers), named(systems)]
  if (!browser) return 'Unknown'
  return system ? `${browser} on ${system}` : browser
}
