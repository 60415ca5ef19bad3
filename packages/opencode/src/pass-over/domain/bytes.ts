const encoder = new TextEncoder()

/** How many bytes a text takes where it is stored or sent. */
export const byteLength = (text: string) => encoder.encode(text).length
