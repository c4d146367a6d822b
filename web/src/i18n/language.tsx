import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react'
import { readStored, store } from '../app/storage'
import { type Dictionary, en, type TextKey } from './en'

export type Language = 'en' | 'zh'
export type Values = Record<string, string | number>
export type Translate = (key: TextKey, values?: Values) => string

const locales: Record<Language, string> = { en: 'en-GB', zh: 'zh-CN' }

/** Puts values into a text's {names}. */
export function fill(text: string, values: Values = {}): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole))
}

export function preferredLanguage(): Language {
  const stored = readStored('language')
  if (stored === 'en' || stored === 'zh') return stored
  return /^zh\b/i.test(navigator.language) ? 'zh' : 'en'
}

/** The texts of a language; all but English are fetched when they are asked for. */
export async function loadDictionary(language: Language): Promise<Dictionary> {
  return language === 'zh' ? (await import('./zh')).zh : en
}

interface Spoken {
  language: Language
  locale: string
  t: Translate
  speak: (language: Language) => void
}

const Context = createContext<Spoken | null>(null)

export function LanguageProvider(props: { language: Language; dictionary: Dictionary; children: ReactNode }) {
  const [spoken, setSpoken] = useState({ language: props.language, dictionary: props.dictionary })
  const speak = useCallback((language: Language) => {
    void loadDictionary(language).then((dictionary) => {
      store('language', language)
      document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
      setSpoken({ language, dictionary })
    })
  }, [])
  const value = useMemo<Spoken>(() => ({
    language: spoken.language,
    locale: locales[spoken.language],
    t: (key, values) => fill(spoken.dictionary[key], values),
    speak,
  }), [spoken, speak])
  return <Context value={value}>{props.children}</Context>
}

export function useLanguage(): Spoken {
  const spoken = useContext(Context)
  if (!spoken) throw new Error('outside LanguageProvider')
  return spoken
}

/** The function that gives texts. */
export function useText(): Translate {
  return useLanguage().t
}
