import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react'
import { readStored, store } from '../app/storage'
import { type Dictionary, en, type TextKey } from './en'
import type { Translator } from './sentences/sentence'

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

export interface Texts {
  dictionary: Dictionary
  /** What the server says, which is English; null: there is no translation, or none is needed. */
  sentence: Translator
}

const asItIs: Translator = () => null

/** The texts of a language; all but English are fetched when they are asked for. */
export async function loadTexts(language: Language): Promise<Texts> {
  if (language === 'en') return { dictionary: en, sentence: asItIs }
  const [{ zh }, { translateZh }] = await Promise.all([import('./zh'), import('./sentences/zh')])
  return { dictionary: zh, sentence: translateZh }
}

interface Spoken {
  language: Language
  locale: string
  t: Translate
  sentence: Translator
  speak: (language: Language) => void
}

const Context = createContext<Spoken | null>(null)

export function LanguageProvider(props: { language: Language; dictionary: Dictionary; sentence?: Translator; children: ReactNode }) {
  const [spoken, setSpoken] = useState({ language: props.language, dictionary: props.dictionary, sentence: props.sentence ?? asItIs })
  const speak = useCallback((language: Language) => {
    void loadTexts(language).then((texts) => {
      store('language', language)
      document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
      setSpoken({ language, ...texts })
    })
  }, [])
  const value = useMemo<Spoken>(() => ({
    language: spoken.language,
    locale: locales[spoken.language],
    t: (key, values) => fill(spoken.dictionary[key], values),
    sentence: spoken.sentence,
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

/** What says a sentence of the server in the reader's language where it can, else as it is. */
export function useSentence(): (english: string) => string {
  const { sentence } = useLanguage()
  return useCallback((english) => sentence(english) ?? english, [sentence])
}
