/* Part of hooked.c: the stub of x86-64. */
#define STUB_SIZE 48
#define STUB_BODY STUB_FRAME_SIZE

static void write_stub(char *stub, uint32_t index, char *function)
{
    static const char code[] = "\x48\x89\x4c\x24\xe8\x48\x8b\x0d....\xe3\x16"
                               "\x48\x89\x44\x24\xf0\x48\x8d\x05....\xff\xe1"
                               "........\x48\x8b\x4c\x24\xe8";
    char *body = stub + STUB_BODY;

    memcpy(stub, code, sizeof code - 1);
    put_int32(stub + 8, (char *)&header.entry_hook - (stub + 12));
    put_int32(stub + 22, body - (stub + 26));
    put_int32(body + STUB_HEADER_DISTANCE, (char *)&header - body);
    put_int32(body + STUB_INDEX, index);
    *body = (char)0xe9;
    put_int32(body + 1, function + PATCH_SIZE - (body + PATCH_SIZE));
}
