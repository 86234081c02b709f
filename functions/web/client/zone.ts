// Tells our pages the time zone of this browser, in which they then show times.
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
const secure = location.protocol === 'https:' ? '; Secure' : ''
// biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in browsers that we serve
document.cookie = `aoa_zone=${timeZone}; Path=/web; Max-Age=34560000; SameSite=Lax${secure}`

export {}
