/** The version of this package; its test holds it to package.json. */
export const VERSION = "0.1.0";
