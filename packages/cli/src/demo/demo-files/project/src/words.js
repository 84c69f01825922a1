/** The words of a text: small letters and digits, without accents. */
export function words(text) {
  const plain = text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^a-z0-9]/);
}
