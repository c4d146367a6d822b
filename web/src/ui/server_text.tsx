import type { ReactNode } from 'react'
import { useLanguage } from '../i18n/language'

/**
 * A sentence that the server made, which is in English whatever the console speaks: told so to readers that are machines. What its code
 * means stands before it in the reader's language, where the code is known.
 */
export function ServerText({ label, children }: { label?: ReactNode; children: string }) {
  const { language } = useLanguage()
  return (
    <>
      {label ? <><strong>{label}</strong>: </> : null}
      {language === 'en' ? children : <span lang="en">{children}</span>}
    </>
  )
}
