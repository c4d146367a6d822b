// Runs before the first paint, so that neither colours nor the language attribute change before one's eyes.
;(function () {
  var root = document.documentElement
  function stored(key) {
    try {
      return localStorage.getItem(key)
    } catch {
      return null // storage is switched off: the defaults hold
    }
  }
  var scheme = stored('fathom.scheme')
  if (scheme !== 'light' && scheme !== 'dark') {
    scheme = window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  }
  root.setAttribute('data-mantine-color-scheme', scheme)
  var language = stored('fathom.language') || (/^zh\b/i.test(navigator.language) ? 'zh' : 'en')
  root.lang = language === 'zh' ? 'zh-CN' : 'en'
})()
