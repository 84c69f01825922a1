const fromBase64 = (text: string): Buffer => Buffer.from(text, "base64");

type Format = `image/${"png" | "jpeg" | "gif" | "webp"}`;

/** A small whole image of each format that models are sent, by its media type. */
export const SAMPLE_IMAGES: Readonly<Record<Format, Buffer>> = {
  "image/png": fromBase64(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4AWM4oaAARAwQCgAfjgQheRdXpgAAAABJRU5ErkJggg==",
  ),
  "image/jpeg": fromBase64(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////" +
      "wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxD/2Q==",
  ),
  "image/gif": fromBase64("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
  "image/webp": fromBase64("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="),
};

export const SAMPLE_PNG: Buffer = SAMPLE_IMAGES["image/png"];
